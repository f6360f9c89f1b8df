import { join } from 'node:path'
import { DATABASE, type Damage, exchange, filesLike, flip, remove, truncate } from '../../support/faults/damage.ts'
import type { FaultRow, RowGroup } from '../../support/faults/row.ts'
import type { Ending, RootTemplate } from '../../support/faults/template.ts'

const ENDINGS: readonly Ending[] = ['stopped', 'killed']
/** Where a byte is changed, as parts of the file's length. */
const PLACES = [0.02, 0.21, 0.43, 0.67, 0.93]

/** A kind of file, by the folder it lies in and its names. `varies`: what a changed byte hits depends on the run. */
interface FileKind {
  readonly name: string
  readonly folder?: string
  readonly pattern: RegExp
  readonly varies?: boolean
}

const OF_DATABASE: readonly FileKind[] = [
  { name: '`CURRENT`', folder: DATABASE, pattern: /^CURRENT$/, varies: true },
  { name: 'the `MANIFEST`', folder: DATABASE, pattern: /^MANIFEST-/, varies: true },
  { name: 'the log', folder: DATABASE, pattern: /\.log$/, varies: true },
  { name: 'the tables', folder: DATABASE, pattern: /\.(ldb|sst)$/, varies: true },
  { name: '`LOCK`', folder: DATABASE, pattern: /^LOCK$/ },
  { name: '`LOG`', folder: DATABASE, pattern: /^LOG$/ },
]
const OF_ROOT: readonly FileKind[] = [
  { name: 'the marker', pattern: /^headwater\.json$/ },
  { name: 'the token', pattern: /^headwater\.token$/ },
  { name: 'the anchor', pattern: /^anchor\.json$/ },
  { name: 'the ballast', pattern: /^ballast$/ },
]

function of({ root }: RootTemplate, { folder = '.', pattern }: FileKind): readonly string[] {
  return filesLike(join(root, folder), pattern)
}

function rowsOf(kind: FileKind, endings = ENDINGS): readonly FaultRow[] {
  const flips = PLACES.map(
    place =>
      (template: RootTemplate): Damage =>
        flip(of(template, kind), place),
  )
  const rows: Omit<FaultRow, 'ending'>[] = [
    { title: `${kind.name} deleted`, damages: [template => remove(of(template, kind))] },
    { title: `${kind.name} emptied`, damages: [template => truncate(of(template, kind), 0)] },
    { title: `${kind.name} cut to half`, damages: [template => truncate(of(template, kind), 0.5)] },
    { title: `one byte of ${kind.name} changed`, damages: flips, varies: kind.varies === true },
  ]
  return rows.flatMap(row => endings.map(ending => ({ ...row, ending })))
}

function onBoth(...rows: readonly Omit<FaultRow, 'ending'>[]): readonly FaultRow[] {
  return rows.flatMap(row => ENDINGS.map(ending => ({ ...row, ending })))
}

/** Every kind of file of a root that lies still, damaged in every way. */
export const FILE_GROUPS: readonly RowGroup[] = [
  {
    title: 'Files of the database',
    text: `The root lies still. Every file of the kind is damaged; a byte is changed at ${PLACES.length} places, each on a root of its own. Seldom, one in a table trips an assertion inside LevelDB that ends the process (SIGABRT) with LevelDB's words only.`,
    rows: OF_DATABASE.flatMap(kind => rowsOf(kind)),
  },
  {
    title: 'The log, killed before the anchor was written',
    text: 'The anchor says up to where the database was written; it is renewed every 5 s of writing. What was written after it, and the log lost, can be missed by other evidence only.',
    rows: rowsOf({ name: 'the log', folder: DATABASE, pattern: /\.log$/, varies: true }, ['struck']),
  },
  {
    title: 'Other files of the root',
    text: 'The root lies still. What can be made anew is; what cannot is damage and is never guessed.',
    rows: [
      ...OF_ROOT.flatMap(kind => rowsOf(kind)),
      ...onBoth({ title: 'the folder `lock` deleted', damages: [({ root }) => remove(filesLike(root, /^lock$/))] }),
    ],
  },
  {
    title: 'The database exchanged',
    text: 'The folder of the database is another one than the leader left.',
    rows: onBoth(
      {
        title: 'the database replaced by an older copy of itself',
        damages: [({ root, older }) => exchange(root, join(older, DATABASE))],
      },
      { title: 'the database replaced by an empty folder', damages: [({ root }) => exchange(root, null)] },
      { title: 'the database deleted', damages: [({ root }) => remove([join(root, DATABASE)])] },
      {
        title: "the database replaced by another root's",
        damages: [({ root, foreign }) => exchange(root, join(foreign, DATABASE))],
      },
    ),
  },
]
