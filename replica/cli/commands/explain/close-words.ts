import type { CloseName, closeReaction } from '../../../../schema/wire/close-codes.ts'

/** What each close of a connection means, in words. */
export const CLOSE_MEANINGS: Readonly<Record<CloseName, string>> = {
  normal: 'the peer said goodbye',
  malformed: 'a frame was not what the protocol allows',
  too_many_in_flight: 'more commands were in flight than allowed, or one was sent twice under one number',
  too_large: 'a frame was over its limit',
  unauthorized: 'the credential is missing, wrong or was revoked',
  read_only: 'a replica tried to write a document; only the leader does',
  not_found: 'there is no such session, or it was removed',
  damaged: 'the session cannot be read',
  incompatible: 'the two sides speak no common protocol version',
  rate_limited: 'too many requests for a document',
  other_generation: 'this copy of the document is of another build, or ahead of the leader',
  draining: 'the leader is stopping',
  hello_timeout: 'the first message did not come in time',
  slow_consumer: 'the replica read too slowly, so that its backlog grew over the limit',
  reloading: 'the document is being loaded again after an error of the storage',
}

/** What a replica does by itself after a close. */
export const REACTION_WORDS: Readonly<Record<ReturnType<typeof closeReaction>, string>> = {
  retry: 'it connects again by itself',
  rejoin: 'it fetches the document anew by itself',
  stop: 'it stops; a person has to do something',
}

/** What a person does about a close that stops a replica; the others heal by themselves. */
export const CLOSE_ADVICE: Partial<Readonly<Record<CloseName, string>>> = {
  unauthorized: 'set $HEADWATER_TOKEN_FILE to the file with the token of this root',
  read_only: 'send a command instead; documents are for reading',
  not_found: 'headwater session list',
  damaged: 'headwater verify, then headwater doctor --repair ID',
  incompatible: 'upgrade the older side: headwater status names both versions',
}
