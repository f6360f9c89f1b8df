import { useMemo } from 'react'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { Lines } from '../parts/lines.tsx'
import { type Line, lineOf } from '../text/line.ts'

/** What a transcript shows and where. */
export interface TranscriptProps {
  readonly sessionId: string
  /** The space it fills, in cells. */
  readonly columns: number
  readonly rows: number
  /** It takes the keys of the context `transcript`. */
  readonly isFocused: boolean
  /** Oldest first: what was read of the history, then what is live, each entry once. */
  readonly entries: readonly TranscriptEntry[]
  /** Entries older than these exist. */
  readonly hasMore: boolean
  readonly isLoadingEarlier: boolean
  /** Asked for when the oldest entries come near; a call while it loads is harmless. */
  readonly loadEarlier: () => void
  readonly rootTurn: TurnSnapshot | null
  /** The leader's time of what is shown, for the duration of a turn whose end is seen. Unit: ms. */
  readonly asOf: number | null
  /** This replica, so that its own messages are told as one's own. */
  readonly clientInstanceId?: string
}

/** What was said and done in a session. Source: experience 6.5. */
export function Transcript({ columns, rows, entries }: TranscriptProps) {
  const lines = useMemo(() => entries.slice(-rows).map(plainLine), [entries, rows])
  const above = Array.from({ length: Math.max(0, rows - lines.length) }, (): Line => [])
  return <Lines lines={[...above, ...lines]} columns={columns} rows={rows} />
}

function plainLine(entry: TranscriptEntry): Line {
  if (entry.kind === 'user') return lineOf(` › ${terminalLine(entry.content.displayText ?? entry.content.text)}`)
  if (entry.kind === 'tool') return lineOf(` ● ${terminalLine(entry.title)}`)
  return lineOf(`   ${entry.kind === 'interaction' ? entry.kind : terminalLine(entry.text)}`)
}
