import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** True while a process runs; one that has ended and was not waited for does not. Linux only. */
export function isRunning(pid: number): boolean {
  return /\) [^ZX] /.test(readProc(pid, 'stat'))
}

/** Running processes, without this one, whose environment at their start holds the text: a directory of the test, say. None where there is no /proc. */
export function processesWith(text: string): readonly number[] {
  if (!existsSync('/proc/self/environ')) return []
  const pids = readdirSync('/proc').filter(name => /^[1-9][0-9]*$/.test(name))
  return pids
    .map(Number)
    .filter(pid => pid !== process.pid && isRunning(pid) && readProc(pid, 'environ').includes(text))
}

/** Kills what `processesWith` finds. */
export function killProcessesWith(text: string): void {
  for (const pid of processesWith(text)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended since.
    }
  }
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
