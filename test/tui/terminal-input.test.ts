import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InputEvent } from '../../replica/tui/terminal/input-event.ts'
import { EMPTY_INPUT, endInput, heldMs, parseInput } from '../../replica/tui/terminal/parse-input.ts'
import { chordOf } from '../../replica/view/keymap/key.ts'
import { LIMITS } from '../../schema/limits.ts'
import { assertProperty } from '../support/property.ts'

const ESC = '\u001b'

/** The events of bytes that come in these pieces, and of what is held back at the end. */
function read(...pieces: readonly (string | Uint8Array)[]): readonly InputEvent[] {
  const decoder = new TextDecoder()
  const events: InputEvent[] = []
  let state = EMPTY_INPUT
  for (const piece of pieces) {
    const text = decoder.decode(typeof piece === 'string' ? Buffer.from(piece) : piece, { stream: true })
    const parsed = parseInput(state, text)
    events.push(...parsed.events)
    state = parsed.state
  }
  return [...events, ...endInput(state).events]
}

/** Keys as chords, the rest by its kind. */
function told(...pieces: readonly string[]): string {
  return read(...pieces)
    .map(event => (event.kind === 'key' ? chordOf(event.press) : JSON.stringify(event)))
    .join(' ')
}

test.each([
  ['letters and signs', 'aZ?:/1', 'a Z ? : / 1'],
  ['wide and combined letters', 'é中👍', 'é 中 👍'],
  ['control keys', '\u0001\u0013\u001a\u0000\u001f\u001c\n', 'ctrl+a ctrl+s ctrl+z ctrl+space ctrl+_ ctrl+\\ ctrl+j'],
  ['named bytes', '\r\t \u007f\u0008', 'enter tab space backspace backspace'],
  ['arrows', `${ESC}[A${ESC}[B${ESC}OC${ESC}OD`, 'up down right left'],
  [
    'home and end, four ways',
    `${ESC}[H${ESC}[F${ESC}[1~${ESC}[4~${ESC}OH${ESC}OF${ESC}[7~${ESC}[8~`,
    'home end home end home end home end',
  ],
  ['the block above the arrows', `${ESC}[2~${ESC}[3~${ESC}[5~${ESC}[6~`, 'insert delete pgup pgdn'],
  ['function keys', `${ESC}OP${ESC}[12~${ESC}[[C${ESC}[15~${ESC}[24~${ESC}[1;2P`, 'f1 f2 f3 f5 f12 shift+f1'],
  ['keypad enter', `${ESC}OM`, 'enter'],
  [
    'modifiers of xterm',
    `${ESC}[1;2A${ESC}[1;5C${ESC}[1;3D${ESC}[3;5~${ESC}[1;8H`,
    'shift+up ctrl+right alt+left ctrl+delete ctrl+alt+shift+home',
  ],
  ['shift and tab', `${ESC}[Z${ESC}[9;2u`, 'shift+tab shift+tab'],
  ['other keys of xterm', `${ESC}[27;5;13~${ESC}[27;2;13~${ESC}[27;5;105~`, 'ctrl+enter shift+enter ctrl+i'],
  ['kitty: enter and esc', `${ESC}[13;5u${ESC}[13;2u${ESC}[27u${ESC}[13;3u`, 'ctrl+enter shift+enter esc alt+enter'],
  [
    'kitty: letters',
    `${ESC}[97;5u${ESC}[97:65;6u${ESC}[97;6u${ESC}[98;3u${ESC}[32;5u${ESC}[233u`,
    'ctrl+a ctrl+A ctrl+A alt+b ctrl+space é',
  ],
  ['kitty: keypad', `${ESC}[57399u${ESC}[57414u${ESC}[57417;5u${ESC}[57415u`, '0 enter ctrl+left ='],
  ['kitty: locks are no modifiers', `${ESC}[97;133u${ESC}[1;129A`, 'ctrl+a up'],
  ['alt', `${ESC}b${ESC}\r${ESC}\u007f${ESC}[${'1;3'}A${ESC}${ESC}[B`, 'alt+b alt+enter alt+backspace alt+up alt+down'],
  ['esc and esc', `${ESC}${ESC}`, 'esc esc'],
  ['alt with the letters that begin sequences', `${ESC}[`, 'alt+['],
])('experience 7.2 keys are told by name: %s', (_name, bytes, chords) => {
  expect(told(bytes)).toBe(chords)
})

test.each([
  ['super', `${ESC}[97;9u`],
  ['a release', `${ESC}[97;1:3u`],
  ['keys without a meaning', `${ESC}[57358u${ESC}[57441u${ESC}[99~${ESC}[E${ESC}O5`],
  ['a click', `${ESC}[<0;3;4M${ESC}[<0;3;4m${ESC}[M`],
  ['answers that were not asked for', `${ESC}[?2026;2$y${ESC}P1+r544e=787465726d${ESC}\\${ESC}]4;1;rgb:0/0/0\u0007`],
  ['a number that is none', `${ESC}[99999999999u${ESC}[55296u${ESC}[1114112u`],
  ['a broken sequence', `${ESC}[1;\u0018`.slice(0, -1)],
  ['the end of a paste that was none', `${ESC}[201~`],
  ['controls of eight bits', '\u0085\u009b'],
])('experience 7.2 what is no key gives nothing, and no letters: %s', (_name, bytes) => {
  expect(read(bytes)).toEqual([])
})

test('experience 7.2 a key types what it says unless Ctrl or Alt is held', () => {
  const texts = read(`aé ${ESC}b\u0001\r${ESC}[97:65;2u`).map(event => (event.kind === 'key' ? event.press.text : null))
  expect(texts).toEqual(['a', 'é', ' ', '', '', '', 'A'])
})

test('experience 7.3 focus, wheel and answers are told apart from keys', () => {
  expect(read(`${ESC}[I${ESC}[O${ESC}[<64;1;1M${ESC}[<65;1;1M`)).toEqual([
    { kind: 'focus', isFocused: true },
    { kind: 'focus', isFocused: false },
    { kind: 'wheel', delta: -1 },
    { kind: 'wheel', delta: 1 },
  ])
  expect(read(`${ESC}[?5u${ESC}[?62;22c${ESC}]11;rgb:ffff/8080/0000${ESC}\\${ESC}]11;rgb:1/2/f\u0007`)).toEqual([
    { kind: 'reply', reply: { what: 'kitty', flags: 5 } },
    { kind: 'reply', reply: { what: 'attributes' } },
    { kind: 'reply', reply: { what: 'background', red: 255, green: 128, blue: 0 } },
    { kind: 'reply', reply: { what: 'background', red: 17, green: 34, blue: 255 } },
  ])
})

test('experience 6.1 a paste is one text with plain line ends, whatever is in it', () => {
  const inside = `a\r\nb\rc\n${ESC}[A\u0003\tü`
  expect(read(`${ESC}[200~${inside}${ESC}[201~x`)).toEqual([
    { kind: 'paste', text: `a\nb\nc\n${ESC}[A\u0003\tü` },
    { kind: 'key', press: { key: 'x', ctrl: false, alt: false, shift: false, text: 'x' } },
  ])
  expect(read(`${ESC}[200~${ESC}[201~`)).toEqual([])
})

test('experience 6.1 of a paste that is too long nothing is lost', () => {
  const text = '0123456789abcde\r\n'.repeat(LIMITS.terminalPasteChars / 8)
  const whole = read(`${ESC}[200~${text}${ESC}[201~`)
  const pieces = text.match(/[\s\S]{1,65536}/g) as string[]
  expect(read(`${ESC}[200~`, ...pieces, `${ESC}[20`, '1~')).toEqual(whole)
  const texts = whole.map(event => (event.kind === 'paste' ? event.text : 'no paste'))
  expect(texts.length).toBeGreaterThan(1)
  expect(texts.join('')).toBe(text.replaceAll('\r\n', '\n'))
})

test('experience 7.2 a sequence that never ends is given up, and costs no more than its bound', () => {
  const endless = `${ESC}]0;${'x'.repeat(3 * LIMITS.terminalSequenceChars)}`
  const { state } = parseInput(EMPTY_INPUT, endless.slice(0, LIMITS.terminalSequenceChars))
  expect(state.text.length).toBe(LIMITS.terminalSequenceChars)
  expect(parseInput(EMPTY_INPUT, endless).state.text).toBe('')
})

test('experience 7.2 what may be a key by itself waits shortly, what cannot be longer', () => {
  const wait = (text: string) => heldMs(parseInput(EMPTY_INPUT, text).state)
  expect([ESC, `${ESC}[`, `${ESC}O`, `${ESC}[1;`, `${ESC}]11;`, 'a', `${ESC}[200~abc`].map(wait)).toEqual([
    30,
    30,
    30,
    500,
    500,
    null,
    null,
  ])
})

/** What terminals send, and what only hostile ones do. */
const inputPart = fc.oneof(
  fc.constantFrom(
    'a',
    'é',
    '👩‍💻',
    '\r',
    '\t',
    ESC,
    `${ESC}[`,
    `${ESC}O`,
    `${ESC}[A`,
    `${ESC}[1;5C`,
    `${ESC}[[B`,
    `${ESC}[97;6u`,
  ),
  fc.constantFrom(
    `${ESC}[200~`,
    `${ESC}[201~`,
    '\r\n',
    `${ESC}]11;rgb:0/0/0`,
    `${ESC}\\`,
    '\u0007',
    `${ESC}[<64;1;1M`,
    `${ESC}P`,
    `${ESC}[?`,
  ),
  fc.string({ maxLength: 8, unit: 'binary' }),
)

test('experience 7.2 however the bytes are cut, the events are the same', () => {
  const cuts = fc.array(fc.nat(), { maxLength: 12 })
  assertProperty(
    fc.property(fc.array(inputPart, { maxLength: 16 }), cuts, (parts, at) => {
      const bytes = Buffer.from(parts.join('').toWellFormed())
      const places = [...new Set(at.map(place => place % (bytes.length + 1)))].sort((a, b) => a - b)
      const pieces = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
      expect(read(...pieces)).toEqual(read(bytes))
    }),
    3_000,
  )
})
