import { expect, test } from 'vitest'
import { freshnessWords, type LinkWordsInput } from '../../replica/view/freshness-words.ts'
import type { Freshness } from '../../schema/entities/projection.ts'

const NOW = new Date(2026, 10, 5, 14, 5).getTime()
const AS_OF = new Date(2026, 10, 5, 14, 2).getTime()
const LAST_WEEK = new Date(2026, 9, 29, 9, 7).getTime()

const ROWS: readonly [LinkWordsInput, Freshness, string][] = [
  [{ kind: 'connecting' }, { state: 'offline', asOf: null }, '◌ connecting'],
  [{ kind: 'connecting' }, { state: 'offline', asOf: AS_OF }, '◌ connecting · as of 14:02'],
  [{ kind: 'connected' }, { state: 'syncing', asOf: null }, '◐ catching up'],
  [{ kind: 'connected' }, { state: 'live', asOf: AS_OF }, '● live'],
  [
    { kind: 'lost', since: NOW - 5_000, retryAt: NOW + 3_500 },
    { state: 'offline', asOf: AS_OF },
    '○ offline · as of 14:02 · retry 4s',
  ],
  [{ kind: 'lost', since: NOW - 5_000 }, { state: 'offline', asOf: LAST_WEEK }, '○ offline · as of 2026-10-29 09:07'],
  [
    { kind: 'lost', since: NOW - 180_000 },
    { state: 'offline', asOf: AS_OF },
    '○ offline 3m · as of 14:02 · headwater doctor',
  ],
  [{ kind: 'unauthorized' }, { state: 'offline', asOf: AS_OF }, '✕ not allowed · headwater doctor'],
  [
    { kind: 'incompatible', leader: '3', replica: '4' },
    { state: 'offline', asOf: AS_OF },
    '✕ version 3 ≠ 4 · restart the older one',
  ],
  [
    { kind: 'closed', reason: 'the leader was stopped' },
    { state: 'offline', asOf: AS_OF },
    '✕ closed: the leader was stopped',
  ],
]

test.each(ROWS)('A10 experience 5.2 %j with %j', (link, shown, expected) => {
  const { symbol, words } = freshnessWords(link, shown, NOW)
  expect(`${symbol} ${words}`).toBe(expected)
})

test('experience 5.2 no state shows only a symbol or a colour, and only live reads as live', () => {
  for (const [link, shown] of ROWS) {
    const { words, tone } = freshnessWords(link, shown, NOW)
    expect(words).toMatch(/^[a-z]{3}/)
    expect(tone === 'good').toBe(words === 'live')
  }
})
