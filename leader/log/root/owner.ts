import { statSync } from 'node:fs'
import { opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HeadwaterError } from '../../../schema/errors.ts'
import { isTempName } from './atomic-file.ts'
import { chooseFreePort } from './endpoint/port.ts'
import { type Evidence, keepReserve, takeEvidence } from './evidence.ts'
import { type DirectoryIdentity, directoryIdentity, isSameDirectory } from './identity.ts'
import { Lease } from './lease.ts'
import { type Marker, ROOT_NAMES, replaceMarker } from './marker.ts'
import type { RootCapability } from './resolve.ts'
import { sweepViews } from './view.ts'

/** Why a root begins a new lineage: it was moved or put back, copied, or accepted as it is. Source: R2, D4. */
export type PendingLineage = NonNullable<Marker['pending']>

/** The claim on a root: at most one over all processes, ended by `close` or by the end of the process. Source: A1, R3. */
export interface RootOwner {
  readonly capability: RootCapability
  /** Where the database is, or is to be created. */
  readonly databasePath: string
  /** True from the call of `close` on. */
  readonly closed: boolean
  /** Runs an operation that `close` waits for. Rejects with `invalid_lease` once closed. Source: R10. */
  run<T>(operation: () => Promise<T>): Promise<T>
  /**
   * Proves that the root is still ours: the handles are open and the root's path leads to the directory that was acquired. Costs one
   * `stat`. Throws `ownership_lost`; the owner must then write nothing more. Throws `invalid_lease` once released; operations that `close`
   * waits for still get their proof. Source: R5.
   */
  prove(): void
  /** True once a database was created and synced: from then on its absence is damage. Source: R7. */
  databaseCreated(): boolean
  /** Durable when the promise resolves. Call it only after the database was created and synced. Source: R7. */
  markDatabaseCreated(): Promise<void>
  /** The format of the root's data. Source: M1. */
  readonly format: number
  /** Stores that the data has another format now; durable when the promise resolves. Source: M1. */
  setFormat(format: number): Promise<void>
  /** The id of the root's database, as far as it is known. Source: D4. */
  readonly databaseId: string | undefined
  /** Stores the id of the database that the root has now; durable when the promise resolves. Source: D4. */
  noteDatabase(databaseId: string): Promise<void>
  /** Why the next open begins a new lineage, if it does. Source: R2, D4, V7. */
  readonly pending: PendingLineage | undefined
  /** Stores that the next open begins a new lineage, or that it was begun; durable when the promise resolves. */
  setPending(pending: PendingLineage | undefined): Promise<void>
  /** The root's TCP port, chosen and stored by the first call. Source: W1. */
  port(): Promise<number>
  /** Stores another port, 1 to 65 535; durable when the promise resolves. Source: W1. */
  changePort(port: number): Promise<void>
  /** Inactive at once, waits for operations in flight, releases last; idempotent. Source: R10. */
  close(): Promise<void>
}

/**
 * Takes a root, or gives undefined if it is owned, by this process or another; a live owner is never displaced. Marker and lock are all
 * that is touched: the database is not opened. Errors: `root_name_taken`, `root_identity_changed`, `not_found`, `storage_full`,
 * `storage_fault`. Source: R3, R6, R9.
 */
export async function tryAcquireRootOwner(capability: RootCapability): Promise<RootOwner | undefined> {
  const evidence = await takeEvidence(capability, 'owner')
  if (evidence === undefined) return undefined
  let tenure: Tenure
  try {
    tenure = new Tenure(capability, evidence)
  } catch (error) {
    await evidence.close()
    throw error
  }
  await tenure.settleIn()
  return tenure
}

class Tenure implements RootOwner {
  readonly capability: RootCapability
  readonly databasePath: string
  readonly #evidence: Evidence
  readonly #lease: Lease
  readonly #directory: DirectoryIdentity
  readonly #lockInode: bigint | undefined
  #marker: Marker
  /** Marker writes one after the other. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(capability: RootCapability, evidence: Evidence) {
    this.capability = capability
    this.databasePath = join(capability.path, ROOT_NAMES.database)
    this.#evidence = evidence
    this.#marker = evidence.marker
    this.#lease = new Lease(() => evidence.close())
    this.#directory = directoryIdentity(statSync(capability.path, { bigint: true }))
    this.#lockInode = evidence.isNamed ? undefined : this.#readLockInode()
  }

  get closed(): boolean {
    return this.#lease.closed
  }

  run<T>(operation: () => Promise<T>): Promise<T> {
    return this.#lease.run(operation)
  }

  prove(): void {
    if (!this.#evidence.isBound) {
      this.#lease.assertActive()
      throw this.#lost('a handle that holds it was closed')
    }
    const found = this.#findDirectory()
    if (found === undefined) throw this.#lost('its directory is gone')
    if (!isSameDirectory(this.#directory, found)) throw this.#lost('another directory is in its place')
    // without a name the lock file is the only evidence: a new one could be locked by somebody else
    if (!this.#evidence.isNamed && this.#readLockInode() !== this.#lockInode) throw this.#lost('its lock file is gone')
  }

  databaseCreated(): boolean {
    return this.#marker.databaseCreated
  }

  async markDatabaseCreated(): Promise<void> {
    await this.#changeMarker(marker => ({ ...marker, databaseCreated: true }))
  }

  get format(): number {
    return this.#marker.format
  }

  async setFormat(format: number): Promise<void> {
    await this.#changeMarker(marker => ({ ...marker, format }))
  }

  get databaseId(): string | undefined {
    return this.#marker.databaseId
  }

  async noteDatabase(databaseId: string): Promise<void> {
    if (this.#marker.databaseId === databaseId) return
    await this.#changeMarker(marker => ({ ...marker, databaseId }))
  }

  get pending(): PendingLineage | undefined {
    return this.#marker.pending
  }

  async setPending(pending: PendingLineage | undefined): Promise<void> {
    await this.#changeMarker(({ pending: _former, ...marker }) =>
      pending === undefined ? marker : { ...marker, pending },
    )
  }

  async port(): Promise<number> {
    const { port } = await this.#changeMarker(async marker =>
      marker.port === null ? { ...marker, port: await chooseFreePort(marker.rootId) } : marker,
    )
    if (port === null) throw new HeadwaterError('port_busy', 'No TCP port could be chosen.')
    return port
  }

  async changePort(port: number): Promise<void> {
    await this.#changeMarker(marker => ({ ...marker, port }))
  }

  close(): Promise<void> {
    return this.#lease.close()
  }

  /** What only an owner may clean up, and the device number of this boot. Nothing of it may keep an owner out: the disk may be full. */
  async settleIn(): Promise<void> {
    await sweepViews(this.capability.path).catch(() => {})
    await sweepTempFiles(this.capability.path).catch(() => {})
    await keepReserve(join(this.capability.path, ROOT_NAMES.lock)).catch(() => {})
    if (this.#marker.directory.bootId === this.#directory.bootId) return
    await this.#changeMarker(marker => ({ ...marker, directory: this.#directory })).catch(() => {})
  }

  #changeMarker(change: (marker: Marker) => Marker | Promise<Marker>): Promise<Marker> {
    return this.run(() => {
      const turn = this.#writing.then(async () => {
        const next = await change(this.#marker)
        if (next === this.#marker || isSameMarker(next, this.#marker)) return this.#marker
        this.prove()
        await replaceMarker(this.capability.path, next)
        this.#marker = next
        return next
      })
      this.#writing = turn.catch(() => {})
      return turn
    })
  }

  #findDirectory(): DirectoryIdentity | undefined {
    try {
      return directoryIdentity(statSync(this.capability.path, { bigint: true }))
    } catch {
      return undefined // whatever the reason, it is no proof
    }
  }

  #readLockInode(): bigint | undefined {
    const path = join(this.capability.path, ROOT_NAMES.lock, 'LOCK')
    return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
  }

  #lost(why: string): HeadwaterError {
    const { path } = this.capability
    return new HeadwaterError('ownership_lost', `The data root ${path} was lost while in use: ${why}.`, { path })
  }
}

function isSameMarker(a: Marker, b: Marker): boolean {
  const isSameRoot = a.port === b.port && a.databaseCreated === b.databaseCreated && a.directory === b.directory
  return isSameRoot && a.format === b.format && a.databaseId === b.databaseId && a.pending === b.pending
}

async function sweepTempFiles(root: string): Promise<void> {
  for await (const entry of await opendir(root)) {
    if (isTempName(entry.name)) await rm(join(root, entry.name), { force: true })
  }
}
