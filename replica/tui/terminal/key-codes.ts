import type { KeyPress } from '../../view/keymap/key.ts'

type Modifiers = Pick<KeyPress, 'ctrl' | 'alt' | 'shift'>

const NONE: Modifiers = { ctrl: false, alt: false, shift: false }

/** Keys by the last letter of `CSI … letter` and `SS3 letter`. `CSI M` is none: mice begin so. */
const BY_LETTER: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
}

/** Keys by the first number of `CSI number ~`: xterm, VT220, rxvt. */
const BY_NUMBER: Readonly<Record<number, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pgup',
  6: 'pgdn',
  7: 'home',
  8: 'end',
  11: 'f1',
  12: 'f2',
  13: 'f3',
  14: 'f4',
  15: 'f5',
  17: 'f6',
  18: 'f7',
  19: 'f8',
  20: 'f9',
  21: 'f10',
  23: 'f11',
  24: 'f12',
}

/** Named keys by their code point in `CSI code u` (kitty) and `CSI 27 ; modifiers ; code ~` (xterm). */
const BY_CODE: Readonly<Record<number, string>> = {
  8: 'backspace',
  9: 'tab',
  13: 'enter',
  27: 'esc',
  127: 'backspace',
  57414: 'enter',
  57417: 'left',
  57418: 'right',
  57419: 'up',
  57420: 'down',
  57421: 'pgup',
  57422: 'pgdn',
  57423: 'home',
  57424: 'end',
  57425: 'insert',
  57426: 'delete',
}

/** What the keypad types under the kitty protocol, from code 57399 on. */
const KEYPAD_FIRST = 57_399
const KEYPAD = '0123456789./*-+'
const KEYPAD_EQUAL = 57_415

/** Codes that the kitty protocol uses for keys without a character. */
const PRIVATE_FIRST = 0xe000
const PRIVATE_LAST = 0xf8ff

/** A key with a name. */
export function namedKey(key: string, modifiers: Modifiers = NONE): KeyPress {
  return { key, ...modifiers, text: key === 'space' && !modifiers.ctrl && !modifiers.alt ? ' ' : '' }
}

/** A key that types a character, or one that is told as such a byte: Ctrl with a letter, Tab, Enter, Backspace. */
export function characterKey(character: string, isAlt = false): KeyPress {
  const code = character.codePointAt(0) ?? 0
  const modifiers = { ...NONE, alt: isAlt }
  if (code === 0x0d) return namedKey('enter', modifiers)
  if (code === 0x09) return namedKey('tab', modifiers)
  if (code === 0x1b) return namedKey('esc', modifiers)
  if (code === 0x7f || code === 0x08) return namedKey('backspace', modifiers)
  if (code === 0x20) return namedKey('space', modifiers)
  if (code === 0x00) return namedKey('space', { ...modifiers, ctrl: true })
  if (code < 0x20) return { ...modifiers, key: String.fromCharCode(code + 0x40).toLowerCase(), ctrl: true, text: '' }
  return { ...modifiers, key: character, text: isAlt ? '' : character }
}

/** The key of `CSI numbers final`, and of `SS3 final`; null for one that means nothing here. */
export function sequenceKey(final: string, numbers: readonly number[]): KeyPress | null {
  if (final === 'Z') return namedKey('tab', { ...NONE, shift: true })
  const modifiers = modifiersOf(numbers[1])
  if (modifiers === null) return null
  if (final === '~' && numbers[0] === 27) return codeKey(numbers[2] ?? 0, modifiersOf(numbers[1]))
  const name = final === '~' ? BY_NUMBER[numbers[0] ?? 0] : BY_LETTER[final]
  return name === undefined ? null : namedKey(name, modifiers)
}

/** The key of `CSI code : shifted ; modifiers : event u`; null for a release and for keys that mean nothing here. */
export function kittyKey(parameters: string): KeyPress | null {
  const [codes = '', states = ''] = parameters.split(';')
  const [code = 0, shifted] = codes.split(':').map(Number)
  const [mask, event] = states.split(':').map(Number)
  if (event === 3) return null
  const modifiers = modifiersOf(mask)
  if (modifiers?.shift === true && shifted !== undefined && shifted > 0x20)
    return codeKey(shifted, { ...modifiers, shift: false })
  return codeKey(code, modifiers)
}

function codeKey(code: number, modifiers: Modifiers | null): KeyPress | null {
  if (modifiers === null || !Number.isInteger(code) || code < 0 || code > 0x10ffff) return null
  const name = code === 0x20 ? 'space' : BY_CODE[code]
  if (name !== undefined) return namedKey(name, modifiers)
  const character = code === KEYPAD_EQUAL ? '=' : (KEYPAD[code - KEYPAD_FIRST] ?? characterOf(code))
  if (character === null) return null
  const { shift, ...others } = modifiers
  const key = shift ? shiftedLetter(character) : character
  return { ...others, shift: false, key, text: others.ctrl || others.alt ? '' : key }
}

function characterOf(code: number): string | null {
  const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0)
  const isNone = (code >= PRIVATE_FIRST && code <= PRIVATE_LAST) || (code >= 0xd800 && code < 0xe000)
  return isControl || isNone ? null : String.fromCodePoint(code)
}

/** Terminals tell the key without Shift; only of letters is it known what Shift makes of them. */
function shiftedLetter(character: string): string {
  const upper = character.toUpperCase()
  return [...upper].length === 1 ? upper : character
}

/** One more than a sum of bits; null: with Super or Hyper a key is the window system's, not ours. */
function modifiersOf(mask: number | undefined): Modifiers | null {
  if (mask === undefined || Number.isNaN(mask) || mask < 2) return NONE
  const bits = mask - 1
  if ((bits & 0b1_1000) !== 0) return null
  return { shift: (bits & 1) !== 0, alt: (bits & 0b10_0010) !== 0, ctrl: (bits & 4) !== 0 }
}
