import { createHash, randomUUID } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import { makePrivateFolder, type PrivateFile, privateFiles, readPrivateFile } from './private-files.ts'

const Stored = z.object({ v: z.literal(1), at: z.int(), session: z.string(), text: z.string() })

/** A text that was sent, or cleared away. */
export type HistoryEntry = Pick<z.infer<typeof Stored>, 'session' | 'text'>

/** A file in use is set aside at this part of what all may hold. */
const PARTS = 4

/**
 * What was sent in the sessions of a root, oldest first. Each text is one line that is appended at once, so that several terminals may
 * write; a full file is set aside under a name of its own, so that no line is lost by it. A torn line is passed over. Source: experience 6.1.
 */
export class HistoryFile {
  readonly #folder: string
  readonly #name: string
  readonly #loads = new Set<HistoryEntry[]>()
  #entries: readonly HistoryEntry[] = []
  /** What is too long to be kept on the disk. */
  #large: readonly HistoryEntry[] = []
  #writing: Promise<void> = Promise.resolve()

  constructor(folder: string, root: string) {
    this.#folder = folder
    this.#name = createHash('sha256').update(root).digest('hex').slice(0, 32)
  }

  /** What was sent in a session, as far as it is known here; without a session in all of the root. Oldest first. */
  texts(session?: string): readonly string[] {
    const found = session === undefined ? this.#entries : this.#entries.filter(entry => entry.session === session)
    return found.map(({ text }) => text)
  }

  /** Reads what this and other terminals have written. Never throws. */
  async load(): Promise<void> {
    const added: HistoryEntry[] = []
    this.#loads.add(added)
    await this.#writing
    const lines: HistoryEntry[] = []
    for (const { path } of await this.#files()) {
      const text = await readPrivateFile(path, LIMITS.historyBytes * 2)
      for (const line of (text ?? '').split('\n')) {
        const entry = line === '' ? null : parsed(line)
        if (entry !== null) lines.push(entry)
      }
    }
    this.#loads.delete(added)
    this.#entries = withoutRepeats([...lines, ...this.#large, ...added])
  }

  /** Adds a text. Never throws: what cannot be kept is known only here. */
  add(session: string, text: string): Promise<void> {
    const added = { session, text }
    const others = this.#entries.filter(entry => entry.session !== session || entry.text !== text)
    this.#entries = [...others, added].slice(-LIMITS.historyEntries)
    // Not yet on the disk, or not seen there, by who reads it just now.
    for (const load of this.#loads) load.push(added)
    const line = JSON.stringify({ v: 1, at: Date.now(), session, text } satisfies z.infer<typeof Stored>)
    if (utf8Bytes(line) > LIMITS.historyEntryBytes) {
      this.#large = [...this.#large, added].slice(-LIMITS.historyLargeEntries)
      return this.#writing
    }
    this.#writing = this.#writing.then(() => this.#append(line)).catch(() => {})
    return this.#writing
  }

  async #append(line: string): Promise<void> {
    await makePrivateFolder(this.#folder)
    const path = join(this.#folder, `${this.#name}.jsonl`)
    const file = await open(path, 'a', 0o600)
    try {
      // The newline before it ends a line that a writer was killed in.
      await file.appendFile(`\n${line}\n`)
    } finally {
      await file.close()
    }
    const { size } = await stat(path)
    if (size > LIMITS.historyBytes / PARTS) await this.#setAside(path)
  }

  async #setAside(path: string): Promise<void> {
    await rename(path, join(this.#folder, `${this.#name}.${Date.now()}-${randomUUID()}.jsonl`))
    let bytes = 0
    for (const file of [...(await this.#files())].reverse()) {
      bytes += file.bytes
      if (bytes > LIMITS.historyBytes) await rm(file.path, { force: true })
    }
  }

  /** The files of this root, oldest first; the one in use is the last. */
  async #files(): Promise<readonly PrivateFile[]> {
    const names = new RegExp(`^${this.#name}(\\.\\d+-[0-9a-f-]{36})?\\.jsonl$`)
    const files = await privateFiles(this.#folder, names, LIMITS.historyFiles)
    const order = ({ name }: PrivateFile): number => Number(name.split('.')[1]?.split('-')[0]) || Number.MAX_VALUE
    return [...files].sort((a, b) => order(a) - order(b))
  }
}

function parsed(line: string): HistoryEntry | null {
  try {
    const stored = Stored.safeParse(JSON.parse(line)).data
    return stored === undefined ? null : { session: stored.session, text: stored.text }
  } catch {
    return null
  }
}

/** The newest entries, each text of a session once. */
function withoutRepeats(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const newest = new Map<string, HistoryEntry>()
  for (const entry of entries) {
    const key = `${entry.session}\n${entry.text}`
    newest.delete(key)
    newest.set(key, entry)
  }
  return [...newest.values()].slice(-LIMITS.historyEntries)
}
