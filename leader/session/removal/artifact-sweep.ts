import { LIMITS } from '../../../schema/limits.ts'
import type { RowWrite, Store } from '../../log/store.ts'
import { decodeJson } from '../record.ts'
import { type ArtifactUseRow, readUseId, uploadId, useId, useRow } from '../rows/named-rows.ts'

const PAGE_USES = 1_000

/**
 * A session does not name this artifact any more. Where nobody else does it goes too, unless it was uploaded since the session named it:
 * then somebody is about to name it. True if it went. Source: L5, S5.
 */
export async function dropUse(store: Store, hash: string, sessionId: string): Promise<boolean> {
  const id = useId(hash, sessionId)
  const row = await store.row('artifact_use', '', id)
  if (row === undefined) return false
  const { at } = decodeJson<ArtifactUseRow>(row)
  const gone = useRow(id, null)
  const left = await usesOf(store, hash)
  const upload = left.find(use => use.id === uploadId(hash))
  const isNamed = left.some(use => use.id !== id && use !== upload)
  const isUploadedSince = upload === undefined || decodeJson<ArtifactUseRow>(upload.value).at > at
  if (isNamed || isUploadedSince) {
    await store.putRows('', [gone])
    return false
  }
  await removeUnnamed(store, hash, [gone])
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

/** Removes artifacts that were uploaded long ago and that no session names; gives them. Source: L5. */
export async function sweepArtifacts(store: Store, now: number, isStopped: () => boolean): Promise<readonly string[]> {
  const swept: string[] = []
  for (let after = ''; !isStopped(); ) {
    const page = await store.rows('artifact_use', '', { limit: PAGE_USES, ...(after === '' ? {} : { after }) })
    for (const [i, { id, value }] of page.entries()) {
      const { hash, sessionId } = readUseId(id)
      const isOld = sessionId === null && now - decodeJson<ArtifactUseRow>(value).at > LIMITS.artifactUnnamedMs
      if (!isOld) continue
      const next = page[i + 1]
      const isNamed = next === undefined ? (await usesOf(store, hash)).length > 1 : readUseId(next.id).hash === hash
      if (isNamed) continue
      await removeUnnamed(store, hash, [])
      swept.push(hash)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_USES) break
    after = last.id
  }
  return swept
}
