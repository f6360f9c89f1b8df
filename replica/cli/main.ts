import process from 'node:process'
import type { EndingSignal, Surroundings } from './context.ts'
import { runCommandLine } from './run-command-line.ts'

/** The surroundings of this process. */
function processSurroundings(): Surroundings {
  return {
    stdout: process.stdout,
    get stderr() {
      return process.stderr
    },
    get stdin() {
      return process.stdin
    },
    get terminal() {
      const { stdin, stdout } = process
      return stdin.isTTY === true && stdout.isTTY === true ? { stdin, stdout } : undefined
    },
    env: process.env,
    cwd: process.cwd(),
    connect: async options => {
      const { connectLeader } = await import('../connect-leader.ts')
      return connectLeader(options)
    },
    onSignal: listener => {
      const names: readonly EndingSignal[] = ['SIGINT', 'SIGTERM']
      const listeners = names.map(name => ({ name, call: () => listener(name) }))
      for (const { name, call } of listeners) process.on(name, call)
      return () => {
        for (const { name, call } of listeners) process.off(name, call)
      }
    },
  }
}

process.exitCode = await runCommandLine(process.argv.slice(2), processSurroundings())
process.exit()
