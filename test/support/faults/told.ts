import { type CliOutcome, runCli } from '../run-cli.ts'

/** A root, and the user to whom its programs belong; null: the one of this process. */
export interface Place {
  readonly root: string
  readonly uid: number | null
}

/** What a call of the command line told its user. */
export interface Told {
  readonly exit: string
  /** The code of the error, if there was one. */
  readonly code: string | null
  /** The first sentence of its message. */
  readonly sentence: string | null
  /** The whole of it. */
  readonly message: string | null
  /** What it printed as a value. */
  readonly value: Readonly<Record<string, unknown>>
}

/** Runs `headwater … --json` on a root. */
export async function tell({ root, uid }: Place, ...args: readonly string[]): Promise<Told> {
  return read(
    await runCli(['--json', '--root', root, ...args], { deadlineMs: 60_000, ...(uid === null ? {} : { uid }) }),
  )
}

/** Reads what a call printed; the sentence is free of anything that differs from run to run. */
export function read({
  code,
  signal,
  stdout,
  stderr,
}: Pick<CliOutcome, 'code' | 'signal' | 'stdout' | 'stderr'>): Told {
  const lines = `${stdout}\n${stderr}`.split('\n').filter(line => line.startsWith('{'))
  const values = lines.flatMap(line => parse(line))
  const failed = values.find(value => value.ok === false)?.error as { code?: string; message?: string } | undefined
  const value = (values.find(one => one.ok !== undefined) ?? {}) as Record<string, unknown>
  const message = failed?.message ?? null
  const exit = signal === null ? String(code) : signal
  return {
    exit,
    code: failed?.code ?? null,
    sentence: message === null ? null : firstSentence(message),
    message,
    value,
  }
}

function parse(line: string): Readonly<Record<string, unknown>>[] {
  try {
    return [JSON.parse(line) as Record<string, unknown>]
  } catch {
    return []
  }
}

/** Paths, names of tables and long ids differ from run to run. */
function firstSentence(message: string): string {
  const plain = plainText(message)
  return (/^.*?\.(?=\s|$)/.exec(plain)?.[0] ?? plain).replace(/\.$/, '').slice(0, 200)
}

/** A text without what differs from run to run. */
export function plainText(text: string): string {
  return text
    .replaceAll(/(?:\/[^\s:]+)+(?: \d+)?/g, '…')
    .replaceAll(/\b[0-9a-f]{16,}\b/g, '…')
    .replaceAll(/\b\d{6,}\b/g, '…')
    .replaceAll(/\s+/g, ' ')
}

/** The kinds of faults a `verify` named, and the sessions it named them of. */
export function faultsIn({ value }: Told): { readonly kinds: readonly string[]; readonly sessions: readonly string[] } {
  const error = value.error as { detail?: { faults?: Fault[] } } | undefined
  const result = value.result as { faults?: Fault[] } | undefined
  const faults = error?.detail?.faults ?? result?.faults ?? []
  const kinds = [...new Set(faults.map(fault => fault.kind ?? fault.code))].sort()
  return { kinds, sessions: [...new Set(faults.flatMap(fault => fault.sessionId ?? []))].sort() }
}

interface Fault {
  readonly code: string
  readonly kind?: string
  readonly sessionId?: string
}
