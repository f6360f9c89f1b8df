import { expect, onTestFinished, test } from 'vitest'
import type { App } from '../../../replica/tui/app/app-context.ts'
import { Transcript } from '../../../replica/tui/transcript/transcript.tsx'
import type { TranscriptProps } from '../../../replica/tui/transcript/transcript-props.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { EntryWriter, turnOf } from '../../support/tui/entries.ts'
import { RenderedPart } from '../../support/tui/render-part.tsx'
import { waitFor } from '../../support/wait-for.ts'

const CONNECTED = { kind: 'connected', freshness: { state: 'live', asOf: null } }

/** A transcript by itself, `columns` × `rows`, with what it asked of those around it. */
class Stand {
  readonly part: RenderedPart
  readonly copied: string[] = []
  readonly asked: string[] = []
  pagesAsked = 0
  #props: TranscriptProps

  constructor(
    entries: readonly TranscriptEntry[],
    props: Partial<TranscriptProps> = {},
    turns: Readonly<Record<string, TurnSnapshot>> = {},
  ) {
    this.#props = {
      sessionId: 's1',
      columns: 40,
      rows: 6,
      isFocused: true,
      entries,
      hasMore: false,
      isLoadingEarlier: false,
      loadEarlier: () => {
        this.pagesAsked += 1
      },
      rootTurn: null,
      asOf: null,
      clientInstanceId: 'me',
      ...props,
    }
    const queryTurn = async ({ turnId }: { turnId: string }) => {
      this.asked.push(turnId)
      const turn = turns[turnId]
      if (turn === undefined) throw Object.assign(new Error('no'), { code: 'not_found' })
      return turn
    }
    const link = { getSnapshot: () => CONNECTED, subscribe: () => () => {} }
    const app = {
      options: { place: {} },
      store: { link, connection: { queryTurn } },
      copy: (text: string) => void this.copied.push(text),
    } as unknown as Partial<App>
    this.part = new RenderedPart(<Transcript {...this.#props} />, { columns: this.#props.columns, app })
    onTestFinished(() => this.part.close())
  }

  get rows(): string[] {
    return this.part.rows.map(row => row.trimEnd())
  }

  draw(props: Partial<TranscriptProps>): void {
    this.#props = { ...this.#props, ...props }
    this.part.draw(<Transcript {...this.#props} />)
  }
}

function notices(count: number): TranscriptEntry[] {
  const write = new EntryWriter()
  return Array.from({ length: count }, (_, index) => write.notice(`n${index + 1}`))
}

test('experience 6.5 scrolling up shows the way back and what is new, and never moves by itself', async () => {
  const stand = new Stand(notices(20))
  await stand.part.seen('▌! n20')
  expect(stand.rows).toEqual(['', ' ! n18', '', ' ! n19', '', '▌! n20'])
  stand.part.press('up', 'up', 'up')
  await stand.part.seen('▌! n17')
  expect(stand.rows.at(-1)).toBe(' 12:00          ↓ more below · G newest')
  const before = stand.rows.slice(0, -1)
  stand.draw({ entries: notices(23) })
  await stand.part.seen('↓ 3 new · G newest')
  expect(stand.rows.slice(0, -1)).toEqual(before)
  stand.part.press('G')
  await stand.part.seen('▌! n23')
  expect(stand.part.text).not.toContain('newest')
})

test('experience 7.2 Enter unfolds what is marked and folds it again, y copies it', async () => {
  const write = new EntryWriter()
  const entries = [write.user('hello'), write.tool('a.ts', { output: 'one\ntwo' }), write.text('done')]
  const stand = new Stand(entries, { rows: 12 })
  await stand.part.seen('▌  done')
  expect(stand.part.press('enter')).toEqual([false])
  stand.part.press('k', 'enter')
  await stand.part.seen('▌    two')
  stand.part.press('y', 'enter')
  await waitFor(() => !stand.part.text.includes('two'))
  expect(stand.copied).toEqual(['read: a.ts\none\ntwo'])
})

test('experience 7.2 search finds while it is typed, goes on with Enter, says when there is no more, and Esc ends it', async () => {
  const stand = new Stand(notices(30))
  await stand.part.seen('n30')
  stand.part.press('/')
  await waitFor(() => stand.part.router.offered().some(({ context }) => context === 'palette'))
  stand.part.press('n', '1')
  await stand.part.seen('▌! n19')
  stand.part.press('enter')
  await stand.part.seen('▌! n18')
  stand.part.press('down')
  await stand.part.seen('▌! n19')
  stand.part.press('x')
  await stand.part.seen('no more')
  stand.part.press('esc')
  await waitFor(() => !stand.part.text.includes('no more'))
  expect(stand.part.text).toContain('▌! n19')
})

test('experience 6.5 older entries are asked for near the top, once for each beginning, and again by going up', async () => {
  const stand = new Stand(notices(40).slice(20), { hasMore: true })
  await stand.part.seen('n40')
  expect(stand.pagesAsked).toBe(0)
  stand.part.press('g')
  await stand.part.seen('▌! n21')
  await waitFor(() => stand.pagesAsked === 1)
  stand.draw({ isLoadingEarlier: true })
  await stand.part.seen('loading older')
  stand.draw({ isLoadingEarlier: false })
  await waitFor(() => !stand.part.text.includes('loading older'))
  expect(stand.pagesAsked).toBe(1)
  stand.part.press('up')
  expect(stand.pagesAsked).toBe(2)
  const before = stand.rows.slice(0, -1)
  stand.draw({ entries: notices(40), hasMore: false })
  await waitFor(() => stand.rows.length === 6)
  expect(stand.rows.slice(0, -1).filter(Boolean)).toEqual(before.filter(Boolean))
})

test('experience 7.2 pages turn from the composer too', async () => {
  const stand = new Stand(notices(20), { isFocused: false })
  await stand.part.seen(' ! n20')
  expect(stand.part.press('pgdn')).toEqual([false])
  expect(stand.part.press('pgup')).toEqual([true])
  await stand.part.seen('↓ more below · pgdn newest')
  expect(stand.part.text).not.toContain('▌')
})

test('experience 6.5 how older turns came out is asked for when their heads are on the screen, once', async () => {
  const write = new EntryWriter()
  const first = write.user('one')
  write.turnId = 't2'
  const entries = [first, write.user('two')]
  const stand = new Stand(entries, { rows: 12, columns: 60 }, { t1: turnOf('t1', { failed: 'network' }) })
  await stand.part.seen('failed: the network failed')
  stand.draw({ entries: [...entries, write.notice('more')] })
  await stand.part.seen('more')
  expect(stand.asked).toEqual(['t1', 't2'])
})

test('experience 6.5 another session begins anew, and a screen of no rows is one', async () => {
  const stand = new Stand(notices(20))
  await stand.part.seen('n20')
  stand.part.press('pgup')
  await stand.part.seen('newest')
  stand.draw({ sessionId: 's2' })
  await stand.part.seen('▌! n20')
  stand.draw({ rows: 1 })
  await waitFor(() => stand.rows.length === 1)
  stand.draw({ rows: 0 })
  stand.draw({ rows: 6, entries: [] })
  await waitFor(() => stand.rows.every(row => row === ''))
  expect(stand.part.press('up', 'enter', 'y')).toEqual([true, false, false])
})
