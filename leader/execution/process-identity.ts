import { readdir, readFile } from 'node:fs/promises'
import type { ProcessIdentity } from './backend.ts'
import { pause, systemClock } from './clock.ts'

/** Name of the environment variable that carries a process's mark to its descendants. */
export const MARK_VARIABLE = 'HEADWATER_PROCESS_MARK'

/**
 * How a process group is ended: the time after SIGTERM, and then after SIGKILL, and whether marked descendants go too that left the group.
 * They do after a run that did not end by itself, when they may still be at its work; after others they are daemons that stay.
 */
export interface GroupEnd {
  readonly termMs: number
  readonly killMs: number
  readonly withEscaped: boolean
}

const WHOLE_END: GroupEnd = { termMs: 2_000, killMs: 5_000, withEscaped: true }
const POLL_MS = 20

interface ProcessStat {
  readonly pid: number
  readonly state: string
  readonly processGroup: number
  readonly startTicks: number
}

/**
 * The identity of a child. Of one that is gone already only its mark proves anything; where there is no /proc, boot and start time are not
 * known, and nothing is ever ended by such an identity.
 */
export async function readProcessIdentity(pid: number, mark: string): Promise<ProcessIdentity> {
  const unproven = { pid, processGroup: pid, startTicks: -1, bootId: '', mark }
  if (process.platform !== 'linux') return unproven
  const bootId = await readBootId()
  const stat = await readStat(pid)
  if (stat === null) return { ...unproven, bootId }
  return { pid, processGroup: stat.processGroup, startTicks: stat.startTicks, bootId, mark }
}

/**
 * Ends what is left of a process group: SIGTERM, then SIGKILL; resolves when none is alive. Only what is proven is touched: same boot, and
 * the same start time of the group's first process, or its mark in the environment. `left`: something did not die in time.
 * Source: X15.
 */
export async function endProcessGroup(identity: ProcessIdentity, how: GroupEnd = WHOLE_END): Promise<'ended' | 'left'> {
  if (process.platform !== 'linux' || identity.bootId === '' || identity.bootId !== (await readBootId())) return 'ended'
  const startMs = systemClock.nowMs()
  let signal: 'SIGTERM' | 'SIGKILL' = how.termMs > 0 ? 'SIGTERM' : 'SIGKILL'
  let isFirst = true
  for (;;) {
    const members = await findMembers(identity, how.withEscaped)
    if (members.length === 0) return 'ended'
    const elapsedMs = systemClock.nowMs() - startMs
    if (elapsedMs >= how.termMs + how.killMs) return 'left'
    if (elapsedMs >= how.termMs) signal = 'SIGKILL'
    if (isFirst || signal === 'SIGKILL') for (const pid of members) kill(pid, signal)
    isFirst = false
    await pause(systemClock, POLL_MS)
  }
}

/** Living processes that provably belong to the identity; never this process. */
async function findMembers(identity: ProcessIdentity, withEscaped: boolean): Promise<readonly number[]> {
  const names = await readdir('/proc')
  const stats: ProcessStat[] = []
  for (const name of names) {
    if (!/^[1-9][0-9]*$/.test(name) || Number(name) === process.pid) continue
    const stat = await readStat(Number(name))
    if (stat !== null) stats.push(stat)
  }
  const first = stats.find(stat => stat.pid === identity.pid)
  const isFirstProven = first?.startTicks === identity.startTicks
  const members: number[] = []
  for (const stat of stats) {
    if (stat.state === 'Z' || stat.state === 'X') continue
    const isInGroup = stat.processGroup === identity.processGroup && stat.startTicks >= identity.startTicks
    if (!isInGroup && !withEscaped) continue
    if ((isInGroup && isFirstProven) || (await hasMark(stat.pid, identity.mark))) members.push(stat.pid)
  }
  return members
}

/** Fields after the command name, which may itself hold spaces and brackets: state, parent, group, …; the start time is the 20th. */
async function readStat(pid: number): Promise<ProcessStat | null> {
  const line = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null)
  if (line === null) return null
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { pid, state: fields[0] ?? 'X', processGroup: Number(fields[2]), startTicks: Number(fields[19]) }
}

async function hasMark(pid: number, mark: string | undefined): Promise<boolean> {
  if (mark === undefined || mark === '') return false
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
  return environment.split('\0').includes(`${MARK_VARIABLE}=${mark}`)
}

async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '')).trim()
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself since it was looked at.
  }
}
