import type { EXIT_CODES } from '../../../../schema/errors.ts'

/** The name of an exit code. */
export type ExitName = keyof typeof EXIT_CODES

/** What each exit code means, in words. */
export const EXIT_MEANINGS: Readonly<Record<ExitName, string>> = {
  ok: 'done; for run: the turn completed',
  unexpected: 'an unforeseen failure',
  usage: 'wrong arguments or configuration',
  refused: 'busy, archived, not found, conflict, full or invalid; or the root is owned, not empty or moved',
  unauthorized: 'the credential is missing, wrong or may only watch',
  unreachable: 'no leader, or the connection was lost and did not come back',
  incompatible: 'the versions do not fit together',
  input_needed: 'an answer is needed and nobody may give it here; the turn keeps waiting',
  turn_failed: 'the turn failed',
  turn_interrupted: 'the turn was cancelled',
  outcome_unknown: 'sent, but not known whether it was done',
  damage_found: 'damage was found',
  ownership_lost: 'the leader lost its data root',
  timeout: '--timeout has passed; a turn goes on',
  sigint: 'ended by Ctrl+C (not serve: it drains, 0)',
  sigterm: 'ended by SIGTERM (not serve: it drains, 0)',
}

/** What to do after each exit code. */
export const EXIT_ADVICE: Readonly<Record<ExitName, string>> = {
  ok: 'nothing',
  unexpected: 'do it again with --verbose, and look into headwater logs',
  usage: 'headwater COMMAND --help; the message names what is wrong',
  refused: 'the message has a code in brackets: headwater explain CODE',
  unauthorized: 'set $HEADWATER_TOKEN_FILE to the file with the token of this root',
  unreachable: 'headwater serve, or headwater doctor where it should run already',
  incompatible: 'upgrade the older side: headwater status names both versions',
  input_needed: 'headwater pending, then headwater answer',
  turn_failed: 'the message says why; headwater session show ID has the whole turn',
  turn_interrupted: 'headwater session show ID says who stopped it',
  outcome_unknown: 'headwater session show ID, and do it again only if it was not done',
  damage_found: 'headwater doctor says for each fault what to do',
  ownership_lost: 'headwater doctor, then start it again',
  timeout: 'wait longer, or look later: headwater wait ID --for idle',
  sigint: 'nothing; headwater session list shows what goes on',
  sigterm: 'nothing; headwater session list shows what goes on',
}
