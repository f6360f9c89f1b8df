import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod/mini'
import { LIMITS } from '../../../schema/limits.ts'
import {
  makePrivateFolder,
  type PrivateFile,
  privateFiles,
  readPrivateFile,
  writePrivateFile,
} from './private-files.ts'

/** What is kept of a draft. `folds`: the folded pastes in `text`. `aside`: what else was written there and not sent, or not known to be. */
export interface KeptDraft {
  readonly text: string
  readonly folds: Readonly<Record<string, string>>
  readonly aside: readonly string[]
}

/** A draft on the disk. `isOpen`: another terminal that wrote it still runs. `isOwn`: this one wrote it. `savedAt`: ms of the writer's clock. */
export interface FoundDraft extends KeptDraft {
  readonly savedAt: number
  readonly isOpen: boolean
  readonly isOwn: boolean
  /** Takes it off the disk, once it is kept elsewhere. Never throws. */
  remove(): Promise<void>
}

const Stored = z.object({
  v: z.literal(1),
  session: z.string(),
  pid: z.int(),
  savedAt: z.int(),
  text: z.string(),
  folds: z.record(z.string(), z.string()),
  aside: z.array(z.string()),
})

const NAME = /^[0-9a-f]{32}\.[0-9a-f]{16}\.json$/
const LEFT_OVER = /\.tmp$/
const LEFT_OVER_MS = 60 * 60 * 1_000
const WRITES_PER_SWEEP = 64

/**
 * Drafts as files, one for each session and terminal, so that two terminals on one session leave each other's alone. Readable by their
 * user only, replaced as a whole; what cannot be read is no draft. Source: O2, experience 5.3.
 */
export class DraftFiles {
  readonly #folder: string
  readonly #client: string
  #writes = 0

  constructor(folder: string, clientInstanceId: string) {
    this.#folder = folder
    this.#client = digest(clientInstanceId, 16)
  }

  /** Keeps this terminal's draft of a session; null: there is none any more. Rejects where it cannot be kept. */
  async write(session: string, draft: KeptDraft | null): Promise<void> {
    const path = join(this.#folder, this.#nameOf(session))
    if (draft === null) return rm(path, { force: true })
    const stored: z.infer<typeof Stored> = { v: 1, session, pid: process.pid, savedAt: Date.now(), ...mutable(draft) }
    await makePrivateFolder(this.#folder)
    await writePrivateFile(path, JSON.stringify(stored))
    this.#writes += 1
    if (this.#writes % WRITES_PER_SWEEP === 1) await this.#sweep()
  }

  /** The drafts of a session, this terminal's among them, the newest first. Never throws. */
  async find(session: string): Promise<readonly FoundDraft[]> {
    const prefix = `${digest(session, 32)}.`
    const own = this.#nameOf(session)
    const files = await privateFiles(this.#folder, NAME, LIMITS.draftFiles * 2)
    const ofSession = files.filter(({ name }) => name.startsWith(prefix))
    const found = await Promise.all(ofSession.map(file => readDraft(file, session, file.name === own)))
    return found.filter(draft => draft !== null).sort((a, b) => b.savedAt - a.savedAt)
  }

  #nameOf(session: string): string {
    return `${digest(session, 32)}.${this.#client}.json`
  }

  /** Removes what is beyond the bounds, the oldest first, and what dead writers left; never a file of this terminal. */
  async #sweep(): Promise<void> {
    const files = await privateFiles(this.#folder, /\.(json|tmp)$/, LIMITS.draftFiles * 2)
    let count = 0
    let bytes = 0
    for (const file of [...files].sort((a, b) => b.changedAt - a.changedAt)) {
      const isLeftOver = LEFT_OVER.test(file.name)
      if (!isLeftOver) {
        count += 1
        bytes += file.bytes
      }
      const isOver = isLeftOver
        ? Date.now() - file.changedAt > LEFT_OVER_MS
        : count > LIMITS.draftFiles || bytes > LIMITS.draftsBytes
      if (isOver && !file.name.includes(this.#client)) await rm(file.path, { force: true }).catch(() => {})
    }
  }
}

function mutable({ text, folds, aside }: KeptDraft) {
  return { text, folds: { ...folds }, aside: [...aside] }
}

async function readDraft(file: PrivateFile, session: string, isOwn: boolean): Promise<FoundDraft | null> {
  const text = await readPrivateFile(file.path, LIMITS.draftFileBytes)
  const stored = text === null ? null : parsed(text)
  if (stored === null || stored.session !== session) return null
  return {
    text: stored.text,
    folds: stored.folds,
    aside: stored.aside.slice(0, LIMITS.composerKills),
    savedAt: stored.savedAt,
    isOpen: !isOwn && isRunning(stored.pid),
    isOwn,
    remove: () => rm(file.path, { force: true }).catch(() => {}),
  }
}

function parsed(text: string): z.infer<typeof Stored> | null {
  try {
    return Stored.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
