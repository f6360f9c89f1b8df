import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import type { LeaderConnection } from '../../../replica/client/types.ts'
import { connectLeader } from '../../../replica/index.ts'
import { isolatedEnvironment, useEnvironment } from '../environment.ts'
import { startLeaderProcess } from '../leader-process.ts'
import { makeTempDir, removeTempDir } from '../temporary.ts'
import { waitFor } from '../wait-for.ts'
import { type Ledgers, readLedgers } from './ledgers.ts'
import { tell } from './told.ts'

/**
 * How the last leader of a root ended: cleanly, killed when its anchor said all that was acknowledged, or killed before that (`struck`).
 * Source: D4.
 */
export type Ending = 'stopped' | 'killed' | 'struck'

type Name = Ending | 'older' | 'foreign'

/** What a root was left with: its files, kept aside, and the end of each session's ledger as clients had been told. */
interface Kept {
  readonly files: string
  readonly acknowledged: Ledgers
}

const SESSIONS = ['alpha', 'beta', 'gamma'] as const

/**
 * One data root that can be put back as often as needed into the state in which a leader left it: three sessions with turns, a parked
 * message and an archived one, stopped cleanly or killed in the middle of a turn. It stays in one directory, because a root knows its own.
 */
export class RootTemplate {
  readonly directory: string
  readonly root: string
  /** The user whose files these are, where it is not the one of this process. */
  uid: number | null = null
  readonly #kept = new Map<Name, Kept>()
  readonly #leaveEnvironment: () => void

  private constructor(directory: string) {
    this.directory = directory
    this.root = join(directory, 'root')
    this.#leaveEnvironment = useEnvironment({ ...isolatedEnvironment(directory), HEADWATER_ROOT: this.root })
  }

  /** Makes the root and both endings. */
  static async make(): Promise<RootTemplate> {
    const template = new RootTemplate(makeTempDir('matrix'))
    await template.#fill()
    return template
  }

  close(): void {
    this.#leaveEnvironment()
    removeTempDir(this.directory)
  }

  /** From now on all of it belongs to another user, and whoever looks at it is that user. Only root may do so. */
  giveTo(uid: number | null): void {
    this.uid = uid
    chownBelow(this.directory, uid ?? process.getuid?.() ?? 0)
  }

  /** Takes the root away, so that another one can be at its place until it is put back. */
  putAside(): void {
    renameSync(this.root, this.#aside)
  }

  get #aside(): string {
    return join(this.directory, 'aside')
  }

  /** Puts the root back; gives what was acknowledged before. */
  restore(ending: Ending): Ledgers {
    if (existsSync(this.#aside)) {
      rmSync(this.root, { recursive: true, force: true })
      renameSync(this.#aside, this.root)
    }
    mkdirSync(this.root, { recursive: true, mode: 0o700 })
    chmodSync(this.root, 0o700)
    replaceContent(this.root, this.#of(ending).files)
    if (this.uid !== null) chownBelow(this.root, this.uid)
    return this.#of(ending).acknowledged
  }

  /** A copy of the root's files as they were several turns before. */
  get older(): string {
    return this.#of('older').files
  }

  /** A copy of the root's files after its last clean stop. */
  get stopped(): string {
    return this.#of('stopped').files
  }

  /** A copy of the files of another root. */
  get foreign(): string {
    return this.#of('foreign').files
  }

  /** Where a backup of the stopped root lies, if this version can make one. */
  get backup(): string {
    return join(this.directory, 'backup')
  }

  #of(name: Name): Kept {
    const kept = this.#kept.get(name)
    if (kept === undefined) throw new Error(`the template has no ${name} root`)
    return kept
  }

  #keep(name: Name, acknowledged: Ledgers): void {
    const files = join(this.directory, name)
    mkdirSync(files)
    replaceContent(files, this.root)
    this.#kept.set(name, { files, acknowledged })
  }

  async #fill(): Promise<void> {
    await this.#tenure('stopped', async connection => {
      for (const sessionId of SESSIONS) {
        await connection.createSession({ sessionId, cwd: '/', backend: 'scripted', title: `Session ${sessionId}` })
        await completeTurn(connection, sessionId, 'one')
      }
      await connection.request('session.archive', { sessionId: 'gamma', operationId: 'archive' })
    }).then(acknowledged => this.#keep('older', acknowledged))
    const more = async (connection: LeaderConnection): Promise<void> => {
      await completeTurn(connection, 'alpha', 'two')
      await completeTurn(connection, 'beta', 'two')
      await tell(this, 'backup', this.backup)
    }
    await this.#tenure('stopped', more).then(acknowledged => this.#keep('stopped', acknowledged))
    await this.#tenure('killed', async connection => this.#busy(connection)).then(acknowledged =>
      this.#keep('killed', acknowledged),
    )
    replaceContent(this.root, this.#of('stopped').files)
    await this.#tenure('struck', async connection => this.#busy(connection)).then(acknowledged =>
      this.#keep('struck', acknowledged),
    )
    await this.#makeForeign()
  }

  /** A turn that ends, one that goes on, and a message behind it. */
  async #busy(connection: LeaderConnection): Promise<void> {
    await completeTurn(connection, 'alpha', 'three')
    await connection.startTurn({ sessionId: 'beta', turnId: 'held', content: { text: '/hold' } })
    const originHostEpoch = connection.hostEpoch
    const message = { sessionId: 'beta', messageId: 'waiting', content: { text: 'waits' }, originHostEpoch }
    await connection.submitMessage({ ...message, placement: 'next_turn' })
  }

  /** Waits until the anchor was written after all that was acknowledged. Source: D4. */
  async #anchored(): Promise<void> {
    const path = join(this.root, 'anchor.json')
    const since = Date.now()
    await waitFor(() => existsSync(path) && statSync(path).mtimeMs >= since, {
      what: 'a new anchor',
      deadlineMs: 20_000,
    })
  }

  async #makeForeign(): Promise<void> {
    const root = join(this.directory, 'foreign-root')
    const leader = await startLeaderProcess({ root })
    const connection = await connectTo(root)
    await connection.createSession({ sessionId: 'alpha', cwd: '/', backend: 'scripted', title: 'Of another root' })
    await completeTurn(connection, 'alpha', 'elsewhere')
    await connection.close()
    await leader.stop()
    const files = join(this.directory, 'foreign')
    mkdirSync(files)
    replaceContent(files, root)
    this.#kept.set('foreign', { files, acknowledged: new Map() })
  }

  async #tenure(ending: Ending, work: (connection: LeaderConnection) => Promise<unknown>): Promise<Ledgers> {
    const leader = await startLeaderProcess({ root: this.root })
    const connection = await connectTo(this.root)
    await work(connection)
    const acknowledged = await readLedgers(connection, SESSIONS)
    await connection.close()
    if (ending === 'killed') await this.#anchored()
    if (ending === 'stopped') await leader.stop()
    else await leader.kill()
    return acknowledged
  }
}

/** A replica of a root; the caller closes it. */
export async function connectTo(root: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root, surface: 'run', cache: false })
  if (result.kind !== 'connected') throw new Error(`not connected: ${JSON.stringify(result)}`)
  return result.connection
}

/** Starts a turn and waits for its end. */
export async function completeTurn(connection: LeaderConnection, sessionId: string, turnId: string): Promise<string> {
  await connection.startTurn({ sessionId, turnId, content: { text: `prompt ${turnId}` } })
  const ended = await waitFor(
    async () => {
      const turn = await connection.queryTurn({ sessionId, turnId })
      return 'terminalEventId' in turn ? turn : null
    },
    { what: `the end of ${turnId} in ${sessionId}` },
  )
  return ended.status
}

/** Makes a directory hold exactly what another one holds; the directory itself stays. */
export function replaceContent(directory: string, source: string): void {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true })
  for (const name of readdirSync(source)) {
    const from = join(source, name)
    if (!statSync(from).isSocket()) cpSync(from, join(directory, name), { recursive: true })
  }
}

function chownBelow(path: string, uid: number): void {
  lchownSync(path, uid, uid)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) chownBelow(join(path, name), uid)
}

/** The digest of some bytes, to know them again. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
