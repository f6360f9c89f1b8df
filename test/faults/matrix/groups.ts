import { CRASH_POINTS } from '../../../leader/session/crash-points.ts'
import { crashRow } from '../../support/faults/crash-row.ts'
import { DISK_ROW } from '../../support/faults/disk-row.ts'
import type { PlayedGroup } from '../../support/faults/page.ts'
import { playRow } from '../../support/faults/play-row.ts'
import { nameOf, type RowGroup, type RowOutcome } from '../../support/faults/row.ts'
import type { RootTemplate } from '../../support/faults/template.ts'
import { FILE_GROUPS } from './rows-files.ts'
import { NOBODY, PERMISSION_GROUP, SERVED_GROUP } from './rows-served.ts'

const CRASH_GROUP: RowGroup = {
  title: 'Crash points',
  text: 'A leader is ended with SIGKILL at a named point while a client gives it commands; the client sends again, under the same identities, what was not answered. Then the next leader is looked at.',
  rows: CRASH_POINTS.map(crashRow),
}
const DISK_GROUP: RowGroup = {
  title: 'Disk full',
  text: 'A leader whose data root lies on a small file system of its own.',
  rows: [DISK_ROW],
}

/** Every group of the page, in its order. */
export const GROUPS: readonly RowGroup[] = [CRASH_GROUP, ...FILE_GROUPS, SERVED_GROUP, DISK_GROUP, PERMISSION_GROUP]

/** Plays the rows whose names have all the words. */
export async function playGroups(
  template: RootTemplate,
  words: readonly string[],
  onOutcome: (outcome: RowOutcome) => void = () => {},
): Promise<readonly PlayedGroup[]> {
  const played: PlayedGroup[] = []
  for (const group of GROUPS) {
    const rows = group.rows.filter(row => words.every(word => nameOf(row).includes(word)))
    const outcomes: RowOutcome[] = []
    const isRoot = process.getuid?.() === 0
    if (group === PERMISSION_GROUP && isRoot) template.giveTo(NOBODY)
    for (const row of rows) {
      const outcome = await playRow(template, row).catch(error => unplayed(row, error))
      onOutcome(outcome)
      outcomes.push(outcome)
    }
    if (group === PERMISSION_GROUP && isRoot) template.giveTo(null)
    played.push({ title: group.title, text: group.text, outcomes })
  }
  return played
}

/** A row that could not be played to its end is shown as what it is. */
function unplayed(row: RowGroup['rows'][number], error: unknown): RowOutcome {
  const why = error instanceof Error ? error.message : String(error)
  const nothing = { sessions: '', leader: '', verify: '', doctor: '', remedy: '' }
  return { title: nameOf(row), ...nothing, violations: [`could not be played: ${why}`] }
}
