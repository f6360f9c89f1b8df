import type { Freshness } from '../../schema/entities/projection.ts'

/** How it stands with the leader, as far as words need it; times in ms. */
export type LinkWordsInput =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'lost'; readonly since: number; readonly retryAt?: number }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'incompatible'; readonly leader: string; readonly replica: string }
  | { readonly kind: 'closed'; readonly reason: string }

/** How true a screen is, in a symbol and words; the words say it without the symbol. */
export interface FreshnessWords {
  readonly symbol: string
  readonly words: string
  readonly tone: 'good' | 'dim' | 'warn' | 'bad'
}

/** After so long a loss the words say what to look at. Unit: ms. */
const LONG_LOSS_MS = 120_000

/**
 * The one table of freshness words: what the connection is like, and how true what is shown is. `now` is the local clock, ms.
 * Source: experience 5.2, A10.
 */
export function freshnessWords(link: LinkWordsInput, shown: Freshness, now: number): FreshnessWords {
  switch (link.kind) {
    case 'connecting':
      return { symbol: '◌', words: joined('connecting', asOfWords(shown.asOf, now)), tone: 'dim' }
    case 'connected':
      return shown.state === 'live'
        ? { symbol: '●', words: 'live', tone: 'good' }
        : {
            symbol: '◐',
            words: joined('catching up', shown.state === 'offline' ? asOfWords(shown.asOf, now) : ''),
            tone: 'warn',
          }
    case 'lost': {
      const lostMs = now - link.since
      if (lostMs >= LONG_LOSS_MS) {
        return {
          symbol: '○',
          words: joined(`offline ${minutes(lostMs)}`, asOfWords(shown.asOf, now), 'headwater doctor'),
          tone: 'warn',
        }
      }
      const retry = link.retryAt === undefined ? '' : `retry ${Math.max(1, Math.ceil((link.retryAt - now) / 1_000))}s`
      return { symbol: '○', words: joined('offline', asOfWords(shown.asOf, now), retry), tone: 'warn' }
    }
    case 'unauthorized':
      return { symbol: '✕', words: 'not allowed · headwater doctor', tone: 'bad' }
    case 'incompatible':
      return { symbol: '✕', words: `version ${link.leader} ≠ ${link.replica} · restart the older one`, tone: 'bad' }
    case 'closed':
      return { symbol: '✕', words: `closed: ${link.reason}`, tone: 'bad' }
  }
}

/** When something was true, in local time: `as of 14:02`, with the date when that was on another day; '' where nothing is known. */
export function asOfWords(asOf: number | null, now: number): string {
  if (asOf === null) return ''
  const then = new Date(asOf)
  const time = `${two(then.getHours())}:${two(then.getMinutes())}`
  const isToday = then.toDateString() === new Date(now).toDateString()
  return isToday
    ? `as of ${time}`
    : `as of ${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${time}`
}

const two = (value: number): string => String(value).padStart(2, '0')

function minutes(ms: number): string {
  const total = Math.floor(ms / 60_000)
  return total < 60 ? `${total}m` : `${Math.floor(total / 60)}h ${total % 60}m`
}

function joined(...parts: readonly string[]): string {
  return parts.filter(part => part !== '').join(' · ')
}
