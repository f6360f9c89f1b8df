import { LIMITS } from '../../../schema/limits.ts'
import type { InputEvent, TerminalReply } from './input-event.ts'
import { characterKey, kittyKey, namedKey, sequenceKey } from './key-codes.ts'

/**
 * What was read and not yet understood. `text` begins with ESC, or is part of a paste.
 *
 *   keys ── CSI 200 ~ ──▶ paste ── CSI 201 ~ ──▶ keys
 */
export interface InputState {
  readonly mode: 'keys' | 'paste'
  readonly text: string
}

/** What was understood, and what remains. */
export interface ParsedInput {
  readonly state: InputState
  readonly events: readonly InputEvent[]
}

/** Before anything was read. */
export const EMPTY_INPUT: InputState = { mode: 'keys', text: '' }

const ESC = '\u001b'
const PASTE_END = `${ESC}[201~`

/** CSI: parameters and what may stand behind them, final. */
const CSI = /^\u001b\[([ -?]*)([@-~])/
const CSI_OPEN = /^\u001b\[[ -?]*$/
/** F1 to F5 of the Linux console. */
const CONSOLE_OPEN = `${ESC}[[`
const CONSOLE_KEY = /^\u001b\[\[([A-E])/
/** OSC, DCS, SOS, PM, APC: strings that end with BEL or ST. */
const STRING_OPEN = /^\u001b[\]PX^_]/
const STRING_END = /\u001b\\|[\u0007\u0018\u001a\u009c]/
const BACKGROUND = /^\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i

/**
 * Reads what came from the terminal after `state`. However the same text is cut into pieces, the events are the same. Text that is no key,
 * unknown sequences and answers to what was not asked give nothing, and never letters.
 */
export function parseInput(state: InputState, more: string): ParsedInput {
  const events: InputEvent[] = []
  let { mode } = state
  let text = state.text + more
  for (let step: Step | null; ; text = text.slice(step.length)) {
    step = mode === 'paste' ? pasteStep(text) : keyStep(text)
    if (step === null) return { state: { mode, text }, events }
    if (step.event !== null) events.push(step.event)
    mode = step.mode
  }
}

/** How long to wait for the rest of what was held back before `endInput` says what it is; null: for as long as it takes. Unit: ms. */
export function heldMs({ mode, text }: InputState): number | null {
  if (mode === 'paste' || text === '') return null
  return isKeySoFar(text) ? 30 : 500
}

/** Nothing followed in time: a lone ESC is a key, and the beginning of a sequence that never ended is nothing. */
export function endInput({ mode, text }: InputState): ParsedInput {
  if (mode === 'paste') return { state: { mode, text }, events: [] }
  if (text === '' || !isKeySoFar(text)) return { state: EMPTY_INPUT, events: [] }
  const events =
    text.length === 1 || text[1] === ESC ? [...text].map(escapeKey) : [key(characterKey(text[1] ?? '', true))]
  return { state: EMPTY_INPUT, events }
}

/** What was understood at the beginning of the text, how long it is, and what comes after it; null: more is needed. */
interface Step {
  readonly length: number
  readonly event: InputEvent | null
  readonly mode: InputState['mode']
}

function keyStep(text: string): Step | null {
  if (text === '') return null
  if (text[0] !== ESC) return characterStep(text)
  const second = text[1]
  if (second === undefined) return null
  if (second === '[') return csiStep(text)
  if (second === 'O') return ss3Step(text)
  if (STRING_OPEN.test(text)) return stringStep(text)
  if (second === ESC) return doubleEscapeStep(text)
  const character = String.fromCodePoint(text.codePointAt(1) ?? 0)
  return { length: 1 + character.length, event: key(characterKey(character, true)), mode: 'keys' }
}

function characterStep(text: string): Step {
  const code = text.codePointAt(0) ?? 0
  const character = String.fromCodePoint(code)
  const isC1 = code >= 0x80 && code < 0xa0
  return { length: character.length, event: isC1 ? null : key(characterKey(character)), mode: 'keys' }
}

/** Alt with an arrow comes as ESC before the sequence; two ESC are two keys. */
function doubleEscapeStep(text: string): Step | null {
  const third = text[2]
  if (third === undefined) return null
  if (third !== '[' && third !== 'O') return { length: 1, event: escapeKey(), mode: 'keys' }
  const inner = keyStep(text.slice(1))
  if (inner === null) return null
  const { event } = inner
  if (event?.kind !== 'key') return { length: 1, event: escapeKey(), mode: 'keys' }
  return { length: inner.length + 1, event: key({ ...event.press, alt: true, text: '' }), mode: 'keys' }
}

function csiStep(text: string): Step | null {
  if (text === CONSOLE_OPEN) return null
  const console = CONSOLE_KEY.exec(text)?.[1]
  if (console !== undefined) {
    return { length: 4, event: key(namedKey(`f${console.charCodeAt(0) - 0x40}`)), mode: 'keys' }
  }
  const head = text.slice(0, LIMITS.terminalSequenceChars)
  const found = CSI.exec(head)
  if (found !== null) {
    const [all, parameters = '', final = ''] = found
    const isPaste = final === '~' && parameters === '200'
    return {
      length: all.length,
      event: isPaste ? null : csiEvent(parameters, final),
      mode: isPaste ? 'paste' : 'keys',
    }
  }
  if (!CSI_OPEN.test(head)) return { length: brokenLength(head), event: null, mode: 'keys' }
  return text.length > LIMITS.terminalSequenceChars ? tooLong() : null
}

/** A control character breaks a sequence off and is read for itself. */
function brokenLength(text: string): number {
  return 2 + text.slice(2).search(/[^ -?]/)
}

function csiEvent(parameters: string, final: string): InputEvent | null {
  if (parameters === '' && (final === 'I' || final === 'O')) return { kind: 'focus', isFocused: final === 'I' }
  if (parameters.startsWith('<')) return wheelEvent(parameters, final)
  if (parameters.startsWith('?')) return replyEvent(parameters.slice(1), final)
  if (!/^[0-9;:]*$/.test(parameters)) return null
  const press = final === 'u' ? kittyKey(parameters) : sequenceKey(final, parameters.split(';').map(firstNumber))
  return press === null ? null : key(press)
}

/** `1:3` tells a key's release besides its modifiers. */
function firstNumber(parameter: string): number {
  return Number.parseInt(parameter, 10)
}

function wheelEvent(parameters: string, final: string): InputEvent | null {
  const button = Number.parseInt(parameters.slice(1), 10)
  if (final !== 'M' || (button !== 64 && button !== 65)) return null
  return { kind: 'wheel', delta: button === 64 ? -1 : 1 }
}

function replyEvent(parameters: string, final: string): InputEvent | null {
  if (final === 'c') return reply({ what: 'attributes' })
  return final === 'u' ? reply({ what: 'kitty', flags: Number.parseInt(parameters, 10) || 0 }) : null
}

function ss3Step(text: string): Step | null {
  const letter = text[2]
  if (letter === undefined) return null
  if (letter < ' ' || letter > '~') return { length: 2, event: key(characterKey('O', true)), mode: 'keys' }
  const press = letter === 'M' ? namedKey('enter') : sequenceKey(letter, [])
  return { length: 3, event: press === null ? null : key(press), mode: 'keys' }
}

function stringStep(text: string): Step | null {
  const head = text.slice(0, LIMITS.terminalSequenceChars)
  const end = STRING_END.exec(head)
  if (end === null) return text.length > LIMITS.terminalSequenceChars ? tooLong() : null
  const colour = BACKGROUND.exec(head.slice(1, end.index))
  const event = colour === null ? null : reply(backgroundOf(colour.slice(1)))
  return { length: end.index + end[0].length, event, mode: 'keys' }
}

function backgroundOf(channels: readonly string[]): TerminalReply {
  const [red = 0, green = 0, blue = 0] = channels.map(digits =>
    Math.round((Number.parseInt(digits, 16) / (16 ** digits.length - 1)) * 255),
  )
  return { what: 'background', red, green, blue }
}

/** Up to the end of the paste, or a piece of it that is as long as may be. */
function pasteStep(text: string): Step | null {
  const end = text.indexOf(PASTE_END)
  const limit = LIMITS.terminalPasteChars
  if (end !== -1 && end <= limit) {
    return { length: end + PASTE_END.length, event: paste(text.slice(0, end)), mode: 'keys' }
  }
  if (text.length <= limit + PASTE_END.length) return null
  const isPair = text[limit - 1] === '\r' || (text.charCodeAt(limit - 1) & 0xfc00) === 0xd800
  const cut = isPair ? limit - 1 : limit
  return { length: cut, event: paste(text.slice(0, cut)), mode: 'paste' }
}

function tooLong(): Step {
  return { length: LIMITS.terminalSequenceChars, event: null, mode: 'keys' }
}

/** What may be a whole key by itself: ESC, ESC ESC, Alt with `[`, `O`, or what opens a string. */
function isKeySoFar(text: string): boolean {
  return text.length <= 2
}

function key(press: ReturnType<typeof namedKey>): InputEvent {
  return { kind: 'key', press }
}

function escapeKey(): InputEvent {
  return key(namedKey('esc'))
}

function reply(answer: TerminalReply): InputEvent {
  return { kind: 'reply', reply: answer }
}

function paste(text: string): InputEvent | null {
  return text === '' ? null : { kind: 'paste', text: text.replace(/\r\n?/g, '\n') }
}
