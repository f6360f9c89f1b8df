import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renderRow, titlesOn } from '../support/faults/page.ts'
import { playRow } from '../support/faults/play-row.ts'
import { nameOf } from '../support/faults/row.ts'
import { RootTemplate } from '../support/faults/template.ts'
import { PROJECT } from '../support/source-files.ts'
import { GROUPS } from './matrix/groups.ts'

const page = readFileSync(join(PROJECT, 'test', 'faults', 'MATRIX.md'), 'utf8')
const rows = GROUPS.flatMap(group => group.rows)
/** Rows that are played here; `npm run matrix` plays all. */
const PLAYED = [
  'killed at `after_admission`',
  '`CURRENT` deleted, after a clean stop',
  '`LOCK` deleted, after a kill',
  'the database replaced by an empty folder, after a kill',
]

let template: RootTemplate
beforeAll(async () => {
  template = await RootTemplate.make()
}, 60_000)
afterAll(() => template.close())

test('D2 the page of the fault matrix has every row, in order', () => {
  expect(titlesOn(page)).toEqual(rows.map(nameOf))
  expect(new Set(rows.map(nameOf)).size).toBe(rows.length)
})

test.each(PLAYED)(
  'A9 R7 D2 the page tells what comes of it: %s',
  async name => {
    const row = rows.find(one => nameOf(one) === name)
    if (row === undefined) throw new Error(`no row ${name}`)
    const outcome = await playRow(template, row)
    expect(page.split('\n')).toContain(renderRow(outcome))
    expect(outcome.violations).toEqual([])
  },
  30_000,
)
