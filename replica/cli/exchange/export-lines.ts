import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../schema/canonical.ts'
import type { LedgerRecord } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { inertJsonText } from '../../view/terminal-text.ts'
import { CliFailure } from '../failure.ts'
import { type FirstLine, SESSION_FILE_FORMAT, SESSION_FILE_TYPE } from './session-file.ts'
import type { Sink } from './sink.ts'
import type { SessionSource } from './source.ts'

/** What of a session is exported, and who is told how far it is. */
export interface LinesOptions {
  readonly withArtifacts: boolean
  readonly exportedAt: number
  readonly onProgress: (records: number, artifacts: number) => void
  /** An artifact is named that is not there. */
  readonly onMissing: (hash: string) => void
}

/** What was exported. */
export interface ExportedLines {
  readonly sessionId: string
  readonly revision: number
  readonly hash: string
  readonly records: number
  readonly artifacts: number
}

/** Writes a session line by line, in memory that does not grow with it. Source: D5. */
export async function exportLines(source: SessionSource, sink: Sink, options: LinesOptions): Promise<ExportedLines> {
  const { revision, hash } = await source.head()
  const writer = new LineWriter(sink)
  const { sessionId, rootId } = source
  const { exportedAt, withArtifacts, onProgress } = options
  await writer.line({
    type: SESSION_FILE_TYPE,
    format: SESSION_FILE_FORMAT,
    sessionId,
    rootId,
    revision,
    exportedAt,
    hash,
  } satisfies FirstLine)
  const named = new Set<string>()
  let records = 0
  let first: LedgerRecord | undefined
  for await (const record of source.records(revision)) {
    first ??= record
    if (records > 0 && isCheckpoint(record)) throw compacted()
    noteArtifacts(await writer.record(record), named)
    records += 1
    onProgress(records, 0)
  }
  if (first !== undefined && isCheckpoint(first)) await writeOlderEntries(source, writer, { first, named })
  let artifacts = 0
  for (const artifact of withArtifacts ? named : []) {
    if (await writeArtifact(source, writer, artifact)) artifacts += 1
    else options.onMissing(artifact)
    onProgress(records, artifacts)
  }
  await writer.line({ type: 'end', lines: writer.count, records, artifacts, hash })
  return { sessionId, revision, hash, records, artifacts }
}

class LineWriter {
  readonly #sink: Sink
  count = 0

  constructor(sink: Sink) {
    this.#sink = sink
  }

  /** A ledger record as it is stored: in canonical form. */
  record(record: LedgerRecord): Promise<string> {
    return this.#write(canonicalJson(record))
  }

  line(value: object): Promise<string> {
    return this.#write(JSON.stringify(value))
  }

  /** In a terminal, too, it does nothing but stand there. Source: Z6. */
  async #write(json: string): Promise<string> {
    this.count += 1
    await this.#sink.write(`${inertJsonText(json)}\n`)
    return json
  }
}

/** Its records became one while they were read: what was written does not fit together any more. Source: L6. */
function compacted(): CliFailure {
  return new CliFailure('operation_conflict', 'The session was compacted meanwhile; export it again.')
}

function isCheckpoint({ events }: LedgerRecord): boolean {
  return events[0]?.type === 'ledger_compacted'
}

/** In JSON a name that is text itself has its quotes escaped, so only a member matches. */
const NAME = /"artifact":"(sha256:[0-9a-f]{64})"/g

function noteArtifacts(json: string, named: Set<string>): void {
  for (const [, hash = ''] of json.matchAll(NAME)) named.add(hash)
  if (named.size > LIMITS.exportArtifacts) throw new CliFailure('too_large', 'The session names too many artifacts.')
}

/** What stands before the entries of a checkpoint is in no record any more. Source: L6. */
async function writeOlderEntries(
  source: SessionSource,
  writer: LineWriter,
  { first, named }: { readonly first: LedgerRecord; readonly named: Set<string> },
): Promise<void> {
  for (let before = firstSeqOf(first); before > 1; ) {
    const { entries, firstSeq } = await source.transcript({ before, limit: LIMITS.transcriptPageEntries })
    if (entries.length === 0) return
    noteArtifacts(await writer.line({ type: 'entries', entries }), named)
    before = firstSeq
  }
}

/** The first entry that a checkpoint's state holds, or would hold next. */
function firstSeqOf({ events }: LedgerRecord): number {
  const { state } = (events[0]?.payload ?? {}) as {
    state?: { transcript?: readonly { entry: { seq: number } }[]; nextSeq?: number }
  }
  return state?.transcript?.[0]?.entry.seq ?? state?.nextSeq ?? 1
}

/** False for one that is missing. What comes is cut anew: pieces are of one length, whatever the way they came. */
async function writeArtifact(source: SessionSource, writer: LineWriter, hash: string): Promise<boolean> {
  const found = await source.artifact(hash)
  if (found === undefined) return false
  const { bytes, mimeType, pieces } = found
  const digest = createHash('sha256')
  let index = 0
  const write = async (piece: Uint8Array): Promise<void> => {
    digest.update(piece)
    await writer.line({ type: 'artifact', hash, bytes, mimeType, index, data: Buffer.from(piece).toString('base64') })
    index += 1
  }
  let rest = Buffer.alloc(0)
  for await (const piece of pieces) {
    rest = Buffer.concat([rest, piece])
    while (rest.length >= LIMITS.artifactPieceBytes) {
      await write(rest.subarray(0, LIMITS.artifactPieceBytes))
      rest = rest.subarray(LIMITS.artifactPieceBytes)
    }
  }
  if (rest.length > 0 || index === 0) await write(rest)
  if (`sha256:${digest.digest('hex')}` !== hash) {
    throw new CliFailure('storage_fault', `The artifact ${hash} is not what its name says.`, {
      next: 'headwater verify',
    })
  }
  return true
}
