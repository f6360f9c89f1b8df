import { failureOf } from '../../react/store/failure.ts'

/** What became of a command, in a sentence for people where it was refused. */
export type Told<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly code: string; readonly sentence: string }

/** Waits for a command; what is refused is an outcome and no error. */
export async function outcomeOf<T>(command: Promise<T>): Promise<Told<T>> {
  try {
    return { ok: true, result: await command }
  } catch (error) {
    const { code, message } = failureOf(error)
    return { ok: false, code, sentence: SENTENCES[code] ?? message }
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  already_delivered: 'Too late: the agent has this message already.',
  already_resolved: 'Somebody else answered first.',
  offline: 'There is no connection to the leader; nothing was sent.',
  outcome_unknown: 'Nobody knows yet whether this arrived; look before doing it again.',
}
