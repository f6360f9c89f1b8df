import type { ErrorCode, RetryClass } from '../../../../schema/errors.ts'

/** When the same may be sent again, in words. */
export const RETRY_WORDS: Readonly<Record<RetryClass, string>> = {
  never: 'no: it would be refused again',
  changed: 'after reading the current state and changing the command',
  later: 'unchanged, after a while',
  same_identity: 'unchanged, under the same identity; it is done once at most',
}

/** What a person does about an error. */
export const ERROR_ADVICE: Readonly<Record<ErrorCode, string>> = {
  host_not_ready: 'headwater status shows when it is ready',
  host_draining: 'do it again; the next leader is started or found by itself',
  unauthorized: 'set $HEADWATER_TOKEN_FILE to the file with the token of this root',
  not_found: 'headwater session list',
  session_archived: 'headwater session unarchive ID',
  session_busy: 'headwater wait ID --for idle, or let it wait in the queue: headwater send ID TEXT',
  session_damaged: 'headwater verify, then headwater doctor --repair ID',
  queue_full: 'headwater queue ID shows what waits; take-back makes room',
  already_delivered: 'nothing: the agent has it; headwater interrupt ID stops the turn',
  operation_conflict: 'read it again (headwater session show ID), then do it again',
  already_resolved: 'nothing: somebody else answered; headwater pending shows what is open',
  invalid_request: 'the message names the first fault; mend that',
  rate_limited: 'wait a little',
  persistence_failed: 'do it again; headwater doctor if it stays so',
  storage_full: 'make room on the disk of the root (headwater paths)',
  outcome_unknown: 'headwater session show ID, and do it again only if it was not done',
  incompatible: 'upgrade the older side: headwater status names both versions',
  storage_fault: 'headwater doctor, then restart the leader: headwater stop',
  root_regressed:
    'put the right database back, or go on with this one: headwater stop, then headwater doctor --accept-regression',
  too_large: 'send less at once, or attach a file',
  root_not_empty: 'name a directory that is missing or empty',
  forbidden: 'use the token of the root itself: set $HEADWATER_TOKEN_FILE',
  internal_failure: 'headwater logs',
  offline: 'headwater status; what was last seen is still readable: headwater session show ID --offline',
  unreachable: 'headwater serve',
  timeout: 'look later: headwater wait ID --for idle, or give a longer --timeout',
  root_owned: 'headwater status',
  root_identity_changed: 'headwater doctor --adopt, with --as-copy for a copy to use beside the original',
  root_name_taken: 'headwater doctor; another program may hold the port of this root',
  path_too_long: 'use a shorter --root, or set XDG_RUNTIME_DIR to a shorter folder of your own',
  invalid_lease: 'open the root again; this is a fault of the program that uses it',
  ownership_lost: 'headwater doctor, then start it again',
  port_busy: 'headwater serve --port 0',
}
