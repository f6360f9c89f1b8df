import type * as z from 'zod/mini'
import { firstFault } from '../../../schema/commands/first-fault.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { LedgerRecord } from '../../../schema/events.ts'
import { CliFailure } from '../failure.ts'
import { badLine, type NumberedLine, readLines } from './read-lines.ts'
import { FirstLine, type LastLine, MiddleLine, SESSION_FILE_FORMAT, SESSION_FILE_TYPE } from './session-file.ts'

/** What a session file brings after its first line. */
export type FileItem =
  | { readonly kind: 'record'; readonly record: LedgerRecord }
  | { readonly kind: 'entries'; readonly entries: readonly TranscriptEntry[] }
  | {
      readonly kind: 'piece'
      readonly artifact: string
      readonly bytes: number
      readonly mimeType: string
      readonly index: number
      readonly piece: Uint8Array
    }

/** A session file that is being read, once. */
export interface SessionFile {
  readonly first: FirstLine
  /** Throws a CliFailure with the line for what is not as it was exported; whole only where it comes to its end. */
  readonly items: AsyncIterable<FileItem>
  /** The line that was read last; null once the last one was. */
  readonly line: number | null
}

/** Reads the first line of a session file. Errors: `invalid_request`, `incompatible` for a later format. Source: D5. */
export async function openSessionFile(pieces: AsyncIterable<Uint8Array | string>): Promise<SessionFile> {
  const lines = readLines(pieces)
  const { value: line, done } = await lines.next()
  if (done === true) throw badLine(1, 'there is none: the file is empty')
  const value = parseLine(line) as { type?: unknown; format?: unknown } | null
  if (value?.type !== SESSION_FILE_TYPE) throw badLine(line.number, 'this is no session that headwater has exported')
  if (typeof value.format === 'number' && value.format > SESSION_FILE_FORMAT) {
    throw new CliFailure(
      'incompatible',
      `The file has format ${value.format}, and this version reads ${SESSION_FILE_FORMAT}.`,
      {
        next: 'upgrade this one: npm install headwater@latest',
      },
    )
  }
  const first = checked(FirstLine, value, line.number)
  const place: { line: number | null } = { line: line.number }
  return {
    first,
    items: readItems(lines, first, place),
    get line() {
      return place.line
    },
  }
}

async function* readItems(
  lines: AsyncIterable<NumberedLine>,
  first: FirstLine,
  place: { line: number | null },
): AsyncGenerator<FileItem> {
  const counts = { lines: 1, records: 0, artifacts: 0 }
  let last: LastLine | undefined
  let number = place.line ?? 1
  for await (const line of lines) {
    number = line.number
    place.line = number
    if (last !== undefined) throw badLine(number, 'something stands behind the last line')
    const value = checked(MiddleLine, parseLine(line), number)
    if ('type' in value && value.type === 'end') {
      last = value
      assertWhole(last, first, { ...counts, number })
      continue
    }
    counts.lines += 1
    yield itemOf(value as Exclude<typeof value, LastLine>, counts)
  }
  if (last === undefined) throw badLine(number, 'the file ends here without its last line: it was cut off')
  place.line = null
}

type Middle = Exclude<z.infer<typeof MiddleLine>, LastLine>

function itemOf(value: Middle, counts: { records: number; artifacts: number }): FileItem {
  if (!('type' in value)) {
    counts.records += 1
    return { kind: 'record', record: value as LedgerRecord }
  }
  if (value.type === 'entries') return { kind: 'entries', entries: value.entries }
  const { hash: artifact, bytes, mimeType, index, data } = value
  if (index === 0) counts.artifacts += 1
  return { kind: 'piece', artifact, bytes, mimeType, index, piece: Buffer.from(data, 'base64') }
}

interface Counted {
  readonly lines: number
  readonly records: number
  readonly artifacts: number
  readonly number: number
}

function assertWhole(last: LastLine, first: FirstLine, { number, ...counts }: Counted): void {
  for (const name of ['lines', 'records', 'artifacts'] as const) {
    if (last[name] !== counts[name]) {
      throw badLine(number, `there should be ${last[name]} ${name} before it, and there are ${counts[name]}`)
    }
  }
  if (last.hash !== first.hash) throw badLine(number, 'the first line names another hash')
}

function parseLine({ number, text }: NumberedLine): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badLine(number, 'it is no JSON')
  }
}

function checked<S extends z.ZodMiniType>(shape: S, value: unknown, number: number): z.infer<S> {
  const parsed = shape.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, message } = firstFault(parsed.error.issues)
  throw badLine(number, path === '' ? message : `${path}: ${message}`)
}
