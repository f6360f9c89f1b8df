import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A leader in a process of its own, as `headwater serve` makes one. */
export interface LeaderChild {
  readonly pid: number
  readonly hostEpoch: string
  /** SIGKILL: it gets no chance to write anything more. */
  kill(): Promise<void>
  /** SIGTERM: it drains. Gives its exit code. */
  stop(): Promise<number | null>
}

/** The places of the demo: nothing outside its own directory is touched. */
export type DemoEnvironment = Readonly<Record<string, string | undefined>>

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a leader on a root and waits until it is ready. Throws with what it printed if it does not get there. */
export async function startLeaderChild(root: string, env: DemoEnvironment): Promise<LeaderChild> {
  const args = [MAIN, 'serve', '--root', root, '--port', '0', '--json', '--quiet']
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  const exited = once(child, 'exit').then(([code]) => {
    running.delete(child)
    return code as number | null
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4096)
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const first = await Promise.race([lines.next(), exited.then(() => undefined)])
  const line = first === undefined || first.done ? '' : first.value
  const ready =
    line === '' ? undefined : (JSON.parse(line) as { ok: boolean; result: { pid: number; hostEpoch: string } })
  if (ready?.ok !== true) throw new Error(`the leader did not start: ${line || errors}`)
  return {
    ...ready.result,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}
