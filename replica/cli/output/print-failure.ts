import pc from 'picocolors'
import { commandText } from '../../view/command-text.ts'
import { inertJson, terminalText } from '../../view/terminal-text.ts'
import type { GlobalFlags } from '../context.ts'
import type { CliFailure } from '../failure.ts'
import type { Notices } from './notices.ts'
import type { Output } from './output.ts'

/** What a person may do about a code, where the sentence of the error table does not say it already. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  unreachable: 'headwater serve',
  not_found: 'headwater session list',
  unauthorized: 'set $HEADWATER_TOKEN_FILE to the file with the token of this root',
  session_archived: 'headwater session unarchive ID',
  session_busy: 'headwater wait ID --for idle, or let it wait in the queue: headwater send ID TEXT',
  session_damaged: 'headwater verify',
  storage_fault: 'headwater doctor',
  root_owned: 'headwater status',
  root_regressed: 'headwater stop, then headwater doctor --accept-regression',
  root_identity_changed: 'headwater doctor --adopt, with --as-copy for a copy to use beside the original',
  root_not_empty: 'name a directory that is missing or empty',
  outcome_unknown: 'look what became of it (headwater session show ID), and do it again only if it was not done',
  usage: 'headwater --help',
  damage_found: 'headwater doctor',
}

/** The failure as `--json` prints it: exactly these keys, `detail` null where there is none. */
export function failureEnvelope(failure: CliFailure): { ok: false; error: Readonly<Record<string, unknown>> } {
  const { code, message, retry } = failure
  const detail = failure.code === 'unexpected' ? null : (failure.detail ?? null)
  return { ok: false, error: { code, message, retry, detail } }
}

type Place = Pick<GlobalFlags, 'root' | 'url'>

/** Prints a failure: for programs one line on stdout, for people on stderr the sentence, the code, the next step. */
export async function printFailure(
  failure: CliFailure,
  to: { readonly out: Output; readonly notices: Notices; readonly isJson: boolean; readonly place?: Place },
): Promise<void> {
  to.notices.progress('')
  if (to.isJson) return to.out.json(failureEnvelope(failure))
  const place = to.place ?? {}
  const sentence = terminalText(failure.message)
    .replace(/\s+$/, '')
    .replaceAll(/`headwater [^`]*`/g, command => commandText(command, place))
  const ended = /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
  const { red, dim } = pc.createColors(to.notices.hasColour)
  to.notices.styled(`${red('headwater:')} ${ended} ${dim(`(${failure.code})`)}\n`)
  if (failure.example !== undefined) to.notices.error(`  example: ${failure.example}`)
  const next = failure.next ?? NEXT_STEPS[failure.code]
  if (next !== undefined) to.notices.error(`  next: ${commandText(next, place)}`)
  if (failure.code === 'unexpected') to.notices.verbose(String((failure.detail as { stack?: string })?.stack ?? ''))
  else if (failure.detail !== undefined) to.notices.verbose(`  detail: ${inertJson(failure.detail)}`)
}
