import { useState } from 'react'
import { LIMITS } from '../../../schema/limits.ts'
import { useSession } from '../../react/hooks/use-views.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { useApp } from '../app/app-context.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import { outcomeOf } from '../session/outcome.ts'
import { lineOf } from '../text/line.ts'

/** Asks for another title of a session. Source: S2. */
export function Rename({
  sessionId,
  columns,
  rows,
  onClose,
}: {
  readonly sessionId: string
  readonly columns: number
  readonly rows: number
  onClose(): void
}) {
  const app = useApp()
  const session = useSession(sessionId)?.session
  const [typed, setTyped] = useState<string | null>(null)
  const title = typed ?? session?.title ?? ''
  const set = (text: string) => setTyped([...text].slice(0, LIMITS.titleChars).join(''))
  useActions({
    context: 'dialog',
    isModal: true,
    handlers: {
      'screen.back': onClose,
      'dialog.confirm': () => {
        if (session === undefined) return
        onClose()
        void rename(app, { sessionId, revision: session.revision, title })
      },
    },
    onText: (text, { key }) => {
      if (key === 'backspace') set([...title].slice(0, -1).join(''))
      else if (text !== '') set(title + text)
      else return false
      return true
    },
    onPaste: text => set(title + text.replaceAll('\n', ' ')),
  })
  const lines = [
    lineOf(' Another title for this session', { tone: 'heading' }),
    [],
    [{ text: ' > ', tone: 'accent' as const }, { text: terminalLine(title) }, { text: ' ', inverse: true }],
    [],
    lineOf(' enter keeps it · esc leaves it as it is', { tone: 'dim' }),
  ]
  return <Lines lines={lines} columns={columns} rows={rows} />
}

async function rename(
  app: ReturnType<typeof useApp>,
  { sessionId, revision, title }: { readonly sessionId: string; readonly revision: number; readonly title: string },
): Promise<void> {
  const outcome = await outcomeOf(
    app.sessionCommands(sessionId).updateSession({ expectedRevision: revision, patch: { title } }),
  )
  if (!outcome.ok) app.tell(outcome.sentence, 'warn')
  else if (outcome.result.kind === 'revision_conflict')
    app.tell('somebody else changed this session; look and try again', 'warn')
}
