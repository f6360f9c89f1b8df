import { nearest } from '../../view/nearest.ts'

/** A word that stands for a command in the linear mode. `takes` is what may follow it. */
interface SlashWord {
  readonly takes: '' | 'TEXT' | 'NUMBER'
  /** It needs an open session. */
  readonly isOfSession: boolean
  readonly does: string
}

/** The one table of words: what is understood, and what /help lists. */
export const SLASH_WORDS = {
  sessions: { takes: '', isOfSession: false, does: 'the sessions, with numbers to open them' },
  new: { takes: '', isOfSession: false, does: 'a new session; the next line is its first message' },
  pending: { takes: '', isOfSession: false, does: 'what waits for an answer, in all sessions' },
  queue: { takes: 'TEXT', isOfSession: true, does: 'let a message wait for the next turn' },
  steer: { takes: 'TEXT', isOfSession: true, does: 'give a message to the turn that runs' },
  long: { takes: '', isOfSession: true, does: 'a message of several lines; a line with only a dot ends it' },
  stop: { takes: '', isOfSession: true, does: 'stop the turn that runs' },
  deny: { takes: '', isOfSession: true, does: 'decline to answer' },
  again: { takes: '', isOfSession: true, does: 'say once more what is asked' },
  waiting: { takes: '', isOfSession: true, does: 'the messages that wait' },
  back: { takes: 'NUMBER', isOfSession: true, does: 'take a waiting message back' },
  resume: { takes: '', isOfSession: true, does: 'let parked messages run' },
  plan: { takes: '', isOfSession: true, does: 'the plan' },
  approve: { takes: '', isOfSession: true, does: 'approve the plan that was read out' },
  revise: { takes: 'TEXT', isOfSession: true, does: 'ask for changes to the plan' },
  drop: { takes: '', isOfSession: true, does: 'drop the proposed plan' },
  continue: { takes: '', isOfSession: true, does: 'go on with an interrupted plan' },
  giveup: { takes: '', isOfSession: true, does: 'give an interrupted plan up' },
  tasks: { takes: '', isOfSession: true, does: 'the tasks' },
  inspect: { takes: '', isOfSession: true, does: 'the newest records of what happened, with their times' },
  retry: { takes: '', isOfSession: false, does: 'try to reach the leader now' },
  help: { takes: '', isOfSession: false, does: 'these words' },
  leave: { takes: '', isOfSession: false, does: 'leave; what runs keeps running' },
} as const satisfies Readonly<Record<string, SlashWord>>

/** One of the words. */
export type SlashName = keyof typeof SLASH_WORDS

/** What a typed line is: a word of the table, or text. */
export type Typed =
  | { readonly kind: 'word'; readonly name: SlashName; readonly rest: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unclear'; readonly why: string }

/** Reads a typed line. Two slashes begin a text that begins with one. */
export function readTyped(line: string): Typed {
  if (!line.startsWith('/')) return { kind: 'text', text: line }
  if (line.startsWith('//')) return { kind: 'text', text: line.slice(1) }
  const [, word = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? []
  const name = word.toLowerCase()
  if (!Object.hasOwn(SLASH_WORDS, name)) {
    const [near] = nearest(name, Object.keys(SLASH_WORDS), 1)
    const meant = near === undefined ? '' : ` Did you mean /${near}?`
    return { kind: 'unclear', why: `There is no /${word}.${meant} To send it as a message, begin with two slashes.` }
  }
  const { takes } = SLASH_WORDS[name as SlashName]
  if (takes !== '' && rest === '') return { kind: 'unclear', why: `/${name} takes ${takes}: /${name} ${takes}` }
  if (takes === '' && rest !== '') return { kind: 'unclear', why: `/${name} stands alone.` }
  return { kind: 'word', name: name as SlashName, rest }
}

/** What can be typed. */
export function helpLines(isInSession: boolean): readonly string[] {
  const words = Object.entries(SLASH_WORDS).filter(([, { isOfSession }]) => isInSession || !isOfSession)
  return [
    isInSession
      ? 'A line is sent as a message; while a turn runs it waits, or goes where the settings say. A number answers a question.'
      : 'A number opens a session of the list.',
    ...words.map(([name, { takes, does }]) => `/${name}${takes === '' ? '' : ` ${takes}`}: ${does}`),
    'Control C twice leaves. Leaving stops nothing.',
  ]
}
