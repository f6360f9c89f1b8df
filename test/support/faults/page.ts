import type { RowOutcome } from './row.ts'

/** A group of rows with what they brought. */
export interface PlayedGroup {
  readonly title: string
  readonly text: string
  readonly outcomes: readonly RowOutcome[]
}

const INTRO = `# The fault matrix

What becomes of a data root when something goes wrong, row by row, as it was found out by doing it. This page is written by
\`npm run matrix\`; a test plays some of its rows again and fails when they come out differently.

Each row begins with a root of three sessions, \`alpha\`, \`beta\` and \`gamma\` (archived), whose turns clients had been told are done. Its last
leader was stopped cleanly, or killed while a turn of \`beta\` was running and a message waited. Then the fault is made, and then, in this
order: \`headwater verify\`, \`headwater doctor\`, a leader is started and looked at by a client, stopped, and what \`doctor\` said is done.

What the words mean:

- **equal**: every record that was acknowledged is there, with the hash it had. What recovery adds stands behind it.
- **quarantined**: shown as \`damaged\`, read-only; what is provably good can be read.
- **went back**: whole, but without its newest records; **missing**: not there. Both only together with a fault that names it.
- **none served**: the leader did not start, so that nothing could be made worse.
- **serves**: all sessions can be read and, where they are equal, go on. **works**: afterwards \`verify\` finds nothing and sessions take turns.
- **!** before a row: it breaks a promise, which is named in its last column.

A row that says _each equal or quarantined; or …_ depends on what exactly is hit; it holds for every place that was tried.
`

const COLUMNS = ['fault', 'sessions', 'the leader', '`verify`', '`doctor`', 'doing what it says'] as const

/** The whole page. */
export function renderPage(groups: readonly PlayedGroup[]): string {
  return [INTRO, ...groups.map(renderGroup)].join('\n')
}

function renderGroup({ title, text, outcomes }: PlayedGroup): string {
  const head = [line(COLUMNS), line(COLUMNS.map(() => '---'))]
  return [`## ${title}\n`, `${text}\n`, ...head, ...outcomes.map(renderRow), ''].join('\n')
}

/** One row as it stands on the page. */
export function renderRow(outcome: RowOutcome): string {
  const { title, sessions, leader, verify, doctor, remedy, violations } = outcome
  const mark = violations.length === 0 ? '' : '**!** '
  const broken = violations.length === 0 ? '' : ` **${violations.join('; ')}**`
  return line([`${mark}${title}`, sessions, leader, verify, doctor, `${remedy}${broken}`])
}

const line = (cells: readonly string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** The titles of the rows of a page, in order. */
export function titlesOn(page: string): readonly string[] {
  const rows = page.split('\n').filter(text => text.startsWith('| ') && !text.startsWith('| --- '))
  const titles = rows.map(row => (row.split(' | ')[0] ?? '').replace(/^\| (?:\*\*!\*\* )?/, ''))
  return titles.filter(title => title !== COLUMNS[0])
}
