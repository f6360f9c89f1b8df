import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE, type Damage, filesLike, remove } from '../../support/faults/damage.ts'
import type { FaultRow, RowGroup } from '../../support/faults/row.ts'
import type { RootTemplate } from '../../support/faults/template.ts'

/** Whom the programs belong to while permissions are tried, because nothing is forbidden to root. */
export const NOBODY = 65_534

function forbid(paths: readonly string[]): Damage {
  for (const path of paths) chmodSync(path, 0)
  return { isDone: paths.length > 0, kept: new Set() }
}

function forbidden(title: string, paths: (template: RootTemplate) => readonly string[]): FaultRow {
  return { title, ending: 'stopped', damages: [template => forbid(paths(template))] }
}

/** Permissions lost on a root that lies still. */
export const PERMISSION_GROUP: RowGroup = {
  title: 'Permissions lost',
  text: 'The root lies still, and its owner may not read or write a part of it any more (mode 000).',
  rows: [
    forbidden('the root forbidden', ({ root }) => [root]),
    forbidden('the database forbidden', ({ root }) => [join(root, DATABASE)]),
    forbidden('`CURRENT` forbidden', ({ root }) => [join(root, DATABASE, 'CURRENT')]),
    forbidden('the tables forbidden', ({ root }) => filesLike(join(root, DATABASE), /\.(ldb|sst)$/)),
    forbidden('the log forbidden', ({ root }) => filesLike(join(root, DATABASE), /\.log$/)),
    forbidden('the marker forbidden', ({ root }) => filesLike(root, /^headwater\.json$/)),
    forbidden('the folder `lock` forbidden', ({ root }) => filesLike(root, /^lock$/)),
  ],
}

function served(title: string, damage: (template: RootTemplate) => Damage): FaultRow {
  return { title, ending: 'stopped', damages: [damage], isServed: true }
}

/** Files taken away while a leader serves the root. */
export const SERVED_GROUP: RowGroup = {
  title: 'Files removed while a leader serves',
  text: 'A leader serves; the file is removed under it, it goes on for a while, is looked at, stopped, and the root is looked at again.',
  rows: [
    served("the database's `LOCK` removed under a leader", ({ root }) => remove([join(root, DATABASE, 'LOCK')])),
    served('the folder `lock` removed under a leader', ({ root }) => remove(filesLike(root, /^lock$/))),
    served('the ballast removed under a leader', ({ root }) => remove(filesLike(root, /^ballast$/))),
    served('the anchor removed under a leader', ({ root }) => remove(filesLike(root, /^anchor\.json$/))),
    served('the token removed under a leader', ({ root }) => remove(filesLike(root, /^headwater\.token$/))),
    served('`CURRENT` removed under a leader', ({ root }) => remove([join(root, DATABASE, 'CURRENT')])),
    served('the log removed under a leader', ({ root }) => remove(filesLike(join(root, DATABASE), /\.log$/))),
  ],
}
