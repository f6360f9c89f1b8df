import { LIMITS } from '../../../schema/limits.ts'
import type { RowWrite, Store } from '../../log/store.ts'
import { decodeJson } from '../record.ts'
import { type ArtifactUseRow, readUseId, uploadId, useId, useRow } from '../rows/named-rows.ts'
import type { ArtifactGate } from './artifact-gate.ts'

const PAGE_USES = 1_000

/** What the removal of artifacts works with. */
export interface SweepPorts {
  readonly store: Store
  readonly gate: ArtifactGate
  readonly now: () => number
}

/** That a session named an artifact; `noted`: what is stored with its removal. */
export interface Use {
  readonly hash: string
  readonly sessionId: string
  readonly noted: readonly RowWrite[]
}

/**
 * A session does not name this artifact any more. Where nobody else does it goes too, unless it was uploaded since the session named it:
 * then somebody is about to name it. True if it went. Source: L5, S5.
 */
export async function dropUse(ports: SweepPorts, use: Use): Promise<boolean> {
  const { store, gate, now } = ports
  const { hash, sessionId } = use
  const row = await store.row('artifact_use', '', useId(hash, sessionId))
  if (row === undefined) return false
  const { at } = decodeJson<ArtifactUseRow>(row)
  const isGone = await gate.removing(hash, () => removeUnlessNamed(store, use, at))
  if (isGone !== null) return isGone
  // Somebody names it at this moment. Should nothing come of it, the sweep takes it as an upload that nobody named.
  await store.putRows('', [useRow(useId(hash, sessionId), null), useRow(uploadId(hash), { at: now() })])
  return false
}

async function removeUnlessNamed(store: Store, { hash, sessionId, noted }: Use, at: number): Promise<boolean> {
  const id = useId(hash, sessionId)
  const gone = useRow(id, null)
  const left = await usesOf(store, hash)
  const upload = left.find(use => use.id === uploadId(hash))
  const isNamed = left.some(use => use.id !== id && use !== upload)
  const isUploadedSince = upload === undefined || decodeJson<ArtifactUseRow>(upload.value).at > at
  if (isNamed || isUploadedSince) {
    await store.putRows('', [gone])
    return false
  }
  await removeUnnamed(store, hash, [gone, ...noted])
  return true
}

/** Whoever named or uploaded an artifact, three at most: one is going, one is the upload, and a third is enough to keep it. */
async function usesOf(store: Store, hash: string): ReturnType<Store['rows']> {
  const rows = await store.rows('artifact_use', '', { after: `${hash}.`, limit: 3 })
  return rows.filter(({ id }) => readUseId(id).hash === hash)
}

async function removeUnnamed(store: Store, hash: string, rows: readonly RowWrite[]): Promise<void> {
  await store.removeArtifact(hash, [...rows, useRow(uploadId(hash), null)])
}

/** What is swept, and how long. */
export interface Sweep {
  /** Sessions of which nothing is left. */
  readonly gone: ReadonlySet<string>
  readonly isStopped: () => boolean
}

/**
 * Removes artifacts that were uploaded long ago and that no session names, and those that only sessions have named of which nothing is left:
 * records that were compacted do not tell any more what they named. Gives them. Source: L5, L6, S5.
 */
export async function sweepArtifacts(ports: SweepPorts, { gone, isStopped }: Sweep): Promise<readonly string[]> {
  const { store, gate, now } = ports
  const swept: string[] = []
  for (let after = ''; !isStopped(); ) {
    const page = await store.rows('artifact_use', '', { limit: PAGE_USES, ...(after === '' ? {} : { after }) })
    for (const [i, { id, value }] of page.entries()) {
      const { hash, sessionId } = readUseId(id)
      if (sessionId !== null && gone.has(sessionId)) {
        if (await dropUse(ports, { hash, sessionId, noted: [] })) swept.push(hash)
      }
      const isOld = sessionId === null && isUnnamedFor(value, now())
      if (!isOld) continue
      const next = page[i + 1]
      if (next !== undefined && readUseId(next.id).hash === hash) continue
      if (await gate.removing(hash, () => removeOldUpload(store, hash, now()))) swept.push(hash)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_USES) break
    after = last.id
  }
  return swept
}

/** Looks again: since the page was read it may have been named, or uploaded anew. */
async function removeOldUpload(store: Store, hash: string, now: number): Promise<boolean> {
  const [upload, ...named] = await usesOf(store, hash)
  const isOld = upload?.id === uploadId(hash) && isUnnamedFor(upload.value, now)
  if (!isOld || named.length > 0) return false
  await removeUnnamed(store, hash, [])
  return true
}

/** True for an upload that could have been named long since. */
function isUnnamedFor(value: Uint8Array, now: number): boolean {
  return now - decodeJson<ArtifactUseRow>(value).at > LIMITS.artifactUnnamedMs
}
