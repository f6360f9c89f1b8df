import { copyFile, link, mkdir, opendir, rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { LIMITS } from '../../../../schema/limits.ts'
import { errnoOf } from '../atomic-file.ts'
import { ROOT_NAMES } from '../marker.ts'
import { databaseFileNames } from './anchor.ts'
import type { AnchorLog } from './anchor-keeper.ts'

const SET_NAME = /^[0-9]{1,6}$/
const NO_LINK = /^(?:EXDEV|EPERM|EMLINK|ENOTSUP|EOPNOTSUPP|ENOSYS)$/

/**
 * Sets of database files that were put aside before LevelDB opened the database: it deletes a log that it has read, also a damaged one.
 * Each is a directory of hard links, oldest first. Source: D1.
 */
export async function keptSets(root: string): Promise<readonly string[]> {
  const folder = join(root, ROOT_NAMES.evidence)
  const numbers: number[] = []
  try {
    for await (const entry of await opendir(folder)) {
      if (numbers.length >= LIMITS.keptSets) break
      if (SET_NAME.test(entry.name)) numbers.push(Number(entry.name))
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
  return numbers.sort((a, b) => a - b).map(number => join(folder, String(number)))
}

/**
 * Puts logs, manifests and CURRENT of a closed database aside; gives the set, or null where nothing was kept: there was nothing, there are
 * enough older sets, which are worth more, or it was not possible, which is told. Never rejects. Source: D1, R4.
 */
export async function keepFiles(root: string, log?: AnchorLog): Promise<string | null> {
  try {
    const sets = await keptSets(root)
    const database = join(root, ROOT_NAMES.database)
    const names = await databaseFileNames(database)
    if (sets.length >= LIMITS.keptSets || names.length === 0) return null
    const last = sets.at(-1)
    const number = last === undefined ? 1 : Number(basename(last)) + 1
    const set = join(root, ROOT_NAMES.evidence, String(number))
    await mkdir(set, { recursive: true, mode: 0o700 })
    for (const name of names) await linkOrCopy(join(database, name), join(set, name))
    return set
  } catch (error) {
    log?.warn({ err: error }, 'the files of the database could not be put aside')
    return null
  }
}

/** Removes a set that is not needed any more. Never rejects. */
export async function removeSet(root: string, set: string): Promise<void> {
  await rm(set, { recursive: true, force: true }).catch(() => {})
  await rmdir(join(root, ROOT_NAMES.evidence)).catch(() => {})
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!NO_LINK.test(errnoOf(error) ?? '')) throw error
    await copyFile(from, to)
  }
}
