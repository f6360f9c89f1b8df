import type { Freshness } from '../../schema/entities/projection.ts'
import { ERRORS } from '../../schema/errors.ts'
import type { LinkWordsInput } from './freshness-words.ts'

/** Why commands cannot be sent now, as one sentence for disabled buttons and keys; null: they can. Source: A10, O2, experience 5.3. */
export function notNowWords(link: LinkWordsInput, leader: Freshness): string | null {
  switch (link.kind) {
    case 'connecting':
      return 'Still connecting to the leader; nothing can be sent yet.'
    case 'connected':
      return leader.state === 'live' ? null : 'The leader is not ready yet; nothing can be sent.'
    case 'lost':
      return 'There is no connection to the leader; nothing can be sent until it is back.'
    case 'unauthorized':
      return ERRORS.unauthorized.meaning
    case 'incompatible':
      return ERRORS.incompatible.meaning
    case 'closed':
      return 'The connection is closed; nothing can be sent.'
  }
}
