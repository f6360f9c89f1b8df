import type { Fault } from '../../../../schema/commands/host.ts'
import { type Check, fail, ok } from './check.ts'

/** Sessions that are named one by one. */
const NAMED = 20

/** What a walk over the root, or its leader, found: one check for each session, with the command to type next. */
export function checkFaults(faults: readonly Fault[]): Check[] {
  if (faults.length === 0) return [ok('sessions', 'every record and document is what it should be')]
  const bySession = new Map<string, Fault[]>()
  const others: Fault[] = []
  for (const fault of faults) {
    if (fault.sessionId === undefined) others.push(fault)
    else bySession.set(fault.sessionId, [...(bySession.get(fault.sessionId) ?? []), fault])
  }
  const named = [...bySession].slice(0, NAMED).map(([sessionId, found]) => checkSession(sessionId, found))
  const rest = bySession.size - named.length
  const more = rest > 0 ? [fail('sessions', `${rest} more are damaged`, 'headwater verify')] : []
  return [...others.map(checkOther), ...named, ...more]
}

function checkSession(sessionId: string, faults: readonly Fault[]): Check {
  const [first] = faults
  const count = faults.length === 1 ? '' : ` and ${faults.length - 1} more`
  return fail(`session ${sessionId}`, `${textOf(first)}${count}`, `headwater doctor --repair ${sessionId}`)
}

function checkOther(fault: Fault): Check {
  const next = fault.code === 'root_regressed' ? 'headwater stop, then headwater doctor --accept-regression' : undefined
  return fail(fault.code, textOf(fault), next)
}

function textOf(fault: Fault | undefined): string {
  if (fault === undefined) return ''
  const { kind, code, revision, message } = fault
  const where = revision === undefined ? '' : ` at revision ${revision}`
  return `${kind ?? code}${where}${message === undefined || message === '' ? '' : `: ${message}`}`
}
