import { useMemo, useState } from 'react'
import { createRowModel } from '../../view/transcript/row-model.ts'
import { useApp } from '../app/app-context.ts'
import { Lines } from '../parts/lines.tsx'
import type { Line } from '../text/line.ts'
import { footLine, hasFoot } from './foot-line.ts'
import { RowLayouts } from './rows/row-layouts.ts'
import type { TranscriptProps } from './transcript-props.ts'
import { useFootKeys } from './use-foot-keys.ts'
import { useReading } from './use-reading.ts'
import { useEarlier, useSettled, useUnknownTurns } from './use-reading-effects.ts'
import { useReadingKeys } from './use-reading-keys.ts'
import { useSearch, useTyped } from './use-search.ts'
import { useTurnViews } from './use-turn-views.ts'
import { MARGIN_COLUMNS, viewLines } from './view-lines.ts'
import { groundOf, type Stage } from './window/reading.ts'
import { newRows, slicesOf, targetIndex } from './window/window.ts'

/** Text narrower than this is not laid out; the screen asks for more room before. */
const LEAST_COLUMNS = 8
/** With fewer rows there is none for the foot. */
const ROWS_WITH_FOOT = 4

/** What was said and done in a session. Source: experience 6.5. */
export function Transcript(props: TranscriptProps) {
  return <Reader key={props.sessionId} {...props} />
}

function Reader(props: TranscriptProps) {
  const { sessionId, columns, rows: height, isFocused, entries, hasMore, isLoadingEarlier, clientInstanceId } = props
  const { options } = useApp()
  const { views, ask } = useTurnViews(sessionId, props)
  const model = useMemo(() => createRowModel(clientInstanceId), [clientInstanceId])
  const [layouts] = useState(() => new RowLayouts(options.place))
  const cell = useReading()
  const reading = cell.now()
  const rows = model.rows({ entries, hasMore, turns: views })
  const search = useSearch(cell)
  const keys = useFootKeys(isFocused)
  const told = { isAway: reading.window.anchor !== null, search: search.told, isLoadingEarlier }
  const footRows = height >= ROWS_WITH_FOOT && hasFoot(told) ? 1 : 0
  const stage: Stage = {
    rows,
    columns: Math.max(LEAST_COLUMNS, columns - MARGIN_COLUMNS),
    height: Math.max(1, height - footRows),
    layouts,
  }
  const ground = groundOf(reading, stage)
  const slices = slicesOf(reading.window, ground)
  const target = targetIndex(reading.window, ground)
  const askAgain = useEarlier(props, slices[0]?.index ?? 0)
  useReadingKeys({ cell, stage, search, isFocused, onUp: askAgain })
  useTyped(search, stage)
  useSettled(cell, stage)
  useUnknownTurns(slices, rows, ask)

  const lines = viewLines(reading.window, ground, { barAt: isFocused ? target : -1, query: search.filter.text })
  const empty = Array.from({ length: footRows * Math.max(0, stage.height - lines.length) }, (): Line => [])
  const news = newRows(reading.window, ground)
  const foot = footRows === 0 ? [] : [footLine({ ...told, news, isFocused, target: rows[target], keys }, columns)]
  return <Lines lines={[...lines, ...empty, ...foot]} columns={columns} rows={height} />
}
