import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PlayedGroup, renderPage } from '../../support/faults/page.ts'
import { RootTemplate } from '../../support/faults/template.ts'
import { PROJECT } from '../../support/source-files.ts'
import { playGroups } from './groups.ts'

/** `npm run matrix`: plays every row and writes the page. With words after it only rows that have them all are played, and none is written. */
const words = process.argv.slice(2)
const template = await RootTemplate.make()
let groups: readonly PlayedGroup[] = []
try {
  groups = await playGroups(template, words, outcome => console.info(JSON.stringify(outcome)))
} finally {
  template.close()
}
if (words.length === 0) writeFileSync(join(PROJECT, 'test', 'faults', 'MATRIX.md'), renderPage(groups))
const broken = groups.flatMap(group => group.outcomes).filter(outcome => outcome.violations.length > 0)
for (const { title, violations } of broken) console.info(`! ${title}: ${violations.join('; ')}`)
