import { formatInstant } from './fields.ts'

const SHOWN_APART: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'epoch', 'root', 'pid', 'hostname'])

/** A line of the leader's log (JSON) for people; a line that is none is given back as it is. */
export function formatLogLine(line: string): string {
  let record: Record<string, unknown>
  try {
    record = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line
  }
  if (typeof record !== 'object' || record === null || typeof record.time !== 'number') return line
  const rest = Object.entries(record)
    .filter(([name]) => !SHOWN_APART.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [formatInstant(record.time), String(record.level ?? '').padEnd(5), String(record.msg ?? ''), ...rest].join(' ')
}
