import type { Freshness } from '../../../schema/entities/projection.ts'
import type { LinkState } from '../../react/types.ts'
import { asOfWords, freshnessWords } from '../../view/freshness-words.ts'

/** Says what becomes of the connection, each change once and in words alone. Source: experience 5.2, 11. */
export class LinkTeller {
  #said = ''
  #wasLive = false
  #wasLost = false

  /** What is to be said now; null: nothing new. `now` is the local clock, ms. */
  tell(link: LinkState, shown: Freshness, now: number): string | null {
    const isLive = link.kind === 'connected' && link.freshness.state === 'live'
    const kind = isLive ? 'live' : link.kind === 'connected' ? this.#said : link.kind
    if (kind === this.#said) return null
    this.#said = kind
    const words = this.#words(link, shown, now)
    this.#wasLost ||= link.kind === 'lost'
    this.#wasLive ||= isLive
    return words
  }

  #words(link: LinkState, shown: Freshness, now: number): string {
    const asOf = asOfWords(shown.asOf, now)
    switch (link.kind) {
      case 'connecting':
        return asOf === '' ? 'Looking for the leader.' : `Looking for the leader. Until then: what was seen, ${asOf}.`
      case 'connected':
        return this.#wasLive || this.#wasLost ? 'Live again.' : 'Connected, live.'
      case 'lost': {
        const seen = asOf === '' ? 'nothing was seen yet' : `this is what was seen, ${asOf}`
        return `${this.#wasLive ? 'Connection lost' : 'No leader can be reached'}; ${seen}. It is tried again and again; /retry tries now.`
      }
      default:
        return `The leader cannot be used: ${freshnessWords(link, shown, now).words}.`
    }
  }
}
