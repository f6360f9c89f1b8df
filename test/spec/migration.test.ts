import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import { type RootOwner, resolveRoot, tryAcquireRootOwner } from '../../leader/index.ts'
import { openLevelReader } from '../../leader/log/level-store.ts'
import { migrateRoot } from '../../leader/migrate/migrate-root.ts'
import type { Migration } from '../../leader/migrate/migrations.ts'
import { loadDocument } from '../../leader/projection/document/load.ts'
import { newDocument, section } from '../../schema/projection/layout.ts'
import { DATA_FORMAT, DOCUMENT_SCHEMA } from '../../schema/version.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'

const NEXT = DATA_FORMAT + 1

async function own(root: string): Promise<RootOwner> {
  const owner = await tryAcquireRootOwner(await resolveRoot({ path: root }))
  if (owner === undefined) throw new Error('the root is owned')
  onTestFinished(() => owner.close())
  return owner
}

/** A root with one session whose leader has ended. */
async function oldRoot(): Promise<TestLeader> {
  const leader = await startTestLeader()
  await leader.create('s')
  await leader.close()
  return leader
}

/** Adds a key per run, so that a run that was not undone shows. */
function addingStep(from: number, onRun: () => void = () => {}): Migration {
  return {
    from,
    to: from + 1,
    async run({ databasePath }) {
      const database = new Level<string, Uint8Array>(databasePath, { valueEncoding: 'view' })
      const found = await database.keys({ gte: 'zmigrated', lt: 'zmigratee' }).all()
      await database.put(`zmigrated${found.length}`, new Uint8Array([1]), { sync: true })
      await database.close()
      onRun()
    },
  }
}

async function migratedKeys(databasePath: string): Promise<readonly string[]> {
  const database = new Level<string, Uint8Array>(databasePath, { valueEncoding: 'view', createIfMissing: false })
  const keys = await database.keys({ gte: 'zmigrated', lt: 'zmigratee' }).all()
  await database.close()
  return keys
}

test('M1 a root of an older format is backed up, migrated, and gets its number last; the backup is named and stays', async () => {
  const { root } = await oldRoot()
  const owner = await own(root)
  const steps = [addingStep(DATA_FORMAT), addingStep(NEXT)]
  const migrated = await migrateRoot(owner, { format: NEXT + 1, migrations: steps })
  expect(migrated).toEqual({
    from: DATA_FORMAT,
    to: NEXT + 1,
    backup: expect.stringMatching(/backups.format-1-[0-9TZ-]+$/),
  })
  expect(await migratedKeys(join(root, 'database'))).toEqual(['zmigrated0', 'zmigrated1'])
  const kept = join(migrated?.backup ?? '', 'database')
  expect(await migratedKeys(kept)).toEqual([])
  const reader = await openLevelReader({ path: kept })
  expect(await reader.sessions(undefined, 10)).toEqual(['s'])
  await reader.close()
  expect(JSON.parse(readFileSync(join(root, 'headwater.json'), 'utf8'))).toMatchObject({ format: NEXT + 1 })
  expect(await migrateRoot(owner, { format: NEXT + 1, migrations: steps })).toBe(null)
})

test('M1 a migration that was cut off begins again from the backup, wherever it was', async () => {
  const { root } = await oldRoot()
  const owner = await own(root)
  const cut = addingStep(DATA_FORMAT, () => {
    throw new Error('cut off')
  })
  for (let tries = 0; tries < 3; tries++) {
    await expect(migrateRoot(owner, { format: NEXT, migrations: [cut] })).rejects.toThrow('cut off')
    expect(owner.format).toBe(DATA_FORMAT)
  }
  expect(readdirSync(join(root, 'backups'))).toHaveLength(1)
  const migrated = await migrateRoot(owner, { format: NEXT, migrations: [addingStep(DATA_FORMAT)] })
  expect(await migratedKeys(join(root, 'database'))).toEqual(['zmigrated0'])
  expect(await migratedKeys(join(migrated?.backup ?? '', 'database'))).toEqual([])
  expect(readdirSync(root)).not.toContain('migration.json')
})

test('M1 a backup that did not become whole is made anew, and a journal of a finished migration is forgotten', async () => {
  const { root } = await oldRoot()
  const owner = await own(root)
  mkdirSync(join(root, 'backups', 'unfinished', 'database'), { recursive: true })
  writeFileSync(join(root, 'backups', 'unfinished', 'database', 'CURRENT'), 'torn')
  const migrated = await migrateRoot(owner, { format: NEXT, migrations: [addingStep(DATA_FORMAT)] })
  expect(await migratedKeys(join(migrated?.backup ?? '', 'database'))).toEqual([])
  writeFileSync(join(root, 'migration.json'), JSON.stringify({ from: DATA_FORMAT, to: NEXT, backup: 'x' }))
  expect(await migrateRoot(owner, { format: NEXT, migrations: [] })).toBe(null)
  expect(readdirSync(root)).not.toContain('migration.json')
})

test('M1 a root that nothing leads on from, and one of a later format, are refused as incompatible and left alone', async () => {
  const { root } = await oldRoot()
  const owner = await own(root)
  const far = { format: NEXT + 5, migrations: [addingStep(DATA_FORMAT)] }
  await expect(migrateRoot(owner, far)).rejects.toMatchObject({ code: 'incompatible' })
  expect(readdirSync(root)).not.toContain('backups')
  await migrateRoot(owner, { format: NEXT, migrations: [addingStep(DATA_FORMAT)] })
  await owner.close()
  await expect(resolveRoot({ path: root })).rejects.toMatchObject({
    code: 'incompatible',
    message: expect.stringContaining('upgrade headwater'),
  })
  rmSync(join(root, 'backups'), { recursive: true })
})

test('M1 a document of a later layout is refused as incompatible, not taken for damage', () => {
  const doc = newDocument()
  section(doc, 'head').set('head', { revision: 1, delta: 0, at: 1 })
  section(doc, 'origin').set('origin', { schema: DOCUMENT_SCHEMA + 1, generation: 'g' })
  const snapshot = { through: 1, generation: 'g', bytes: Y.encodeStateAsUpdate(doc) }
  expect(() => loadDocument({ snapshot, updates: [] })).toThrow(expect.objectContaining({ code: 'incompatible' }))
})
