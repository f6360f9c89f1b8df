import type { SessionView } from '../../react/types.ts'
import { asOfWords } from '../../view/freshness-words.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { useApp } from '../app/app-context.ts'
import { Lines } from '../parts/lines.tsx'
import type { Line } from '../text/line.ts'

/** What has to be said about a session as a whole: that it is new, damaged, gone, or that its root went back. Source: V6, D1, experience 5.3. */
export function Notices({
  view,
  isNew,
  columns,
}: {
  readonly view: SessionView
  readonly isNew: boolean
  readonly columns: number
}) {
  const { options } = useApp()
  const lines = noticeLines(view, isNew ? { cwd: options.cwd, backend: options.backend.name } : null)
  return lines.length === 0 ? null : <Lines lines={lines} columns={columns} />
}

function noticeLines(
  { aside, failure, projection }: SessionView,
  isNew: { readonly cwd: string; readonly backend: string } | null,
): readonly Line[] {
  if (isNew !== null) {
    return [
      [
        { text: ' A new session', bold: true },
        { text: ` in ${terminalLine(isNew.cwd)}, run by ${terminalLine(isNew.backend)}.`, tone: 'dim' },
      ],
      [{ text: ' It begins with your first message.', tone: 'dim' }],
      [],
    ]
  }
  const lines: Line[] = []
  if (failure !== null) lines.push([{ text: ` ${terminalLine(failure.message)}`, tone: 'bad' }])
  if (aside !== null) {
    const seen = asOfWords(aside.since, Date.now())
    lines.push([
      {
        text: ` This root went back: newer content seen here${seen === '' ? '' : ` ${seen}`} is kept as a read-only copy.`,
        tone: 'warn',
      },
    ])
  }
  if (projection?.session.isArchived === true)
    lines.push([{ text: ' This session was put away; it takes no messages.', tone: 'warn' }])
  return lines
}
