import { KEY_NAMES } from './key.ts'

const MODIFIERS: Readonly<Record<string, 'ctrl' | 'alt' | 'shift'>> = {
  ctrl: 'ctrl',
  control: 'ctrl',
  c: 'ctrl',
  alt: 'alt',
  option: 'alt',
  meta: 'alt',
  m: 'alt',
  a: 'alt',
  shift: 'shift',
  s: 'shift',
}

const ALIASES: Readonly<Record<string, string>> = {
  escape: 'esc',
  return: 'enter',
  spacebar: 'space',
  ' ': 'space',
  bs: 'backspace',
  del: 'delete',
  ins: 'insert',
  pageup: 'pgup',
  pagedown: 'pgdn',
  pgdown: 'pgdn',
  plus: '+',
  minus: '-',
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** A longer text is no key. Unit: UTF-16 units. */
const LONGEST = 64

/**
 * A key as people write it (`Ctrl-S`, `control+s`, `S-Enter`, `Space`) in the one notation that `chordOf` gives, or undefined for what is no
 * key of a terminal. Letters with ctrl are small, with alt as written; `shift+a` is `A`.
 */
export function parseChord(text: string): string | undefined {
  if (text.length > LONGEST) return undefined
  const held = { ctrl: false, alt: false, shift: false }
  let rest = text.trim() === '' ? text : text.trim()
  for (;;) {
    const match = /^([a-z]+)[+-](?=.)/iu.exec(rest)
    if (match === null) break
    const modifier = MODIFIERS[(match[1] as string).toLowerCase()]
    if (modifier === undefined || held[modifier]) return undefined
    held[modifier] = true
    rest = rest.slice(match[0].length)
  }
  const key = keyOf(rest)
  if (key === undefined) return undefined
  const prefix = `${held.ctrl ? 'ctrl+' : ''}${held.alt ? 'alt+' : ''}`
  if (isNamed(key)) return `${prefix}${held.shift ? 'shift+' : ''}${key}`
  const plain = held.ctrl ? key.toLowerCase() : key
  if (!held.shift) return `${prefix}${plain}`
  const upper = plain.toUpperCase()
  return upper === plain.toLowerCase() ? undefined : `${prefix}${upper}`
}

/** A key with its name from the list, or the printable character itself. */
function keyOf(text: string): string | undefined {
  const lower = text.toLowerCase()
  const name = ALIASES[lower] ?? lower
  if (isNamed(name)) return name
  const character = name.length === 1 && ALIASES[lower] !== undefined ? name : text
  const isOne = [...GRAPHEMES.segment(character)].length === 1
  return isOne && !/[\p{Cc}\p{Cf}\p{Z}]/u.test(character) ? character : undefined
}

function isNamed(key: string): boolean {
  return (KEY_NAMES as readonly string[]).includes(key)
}

/** True for a key that inserts a character where text is typed. */
export function isTyping(chord: string): boolean {
  return chord === 'space' || (!isNamed(chord) && !/^(?:ctrl|alt|shift)\+./.test(chord))
}

const SHORT: Readonly<Record<string, string>> = { up: '↑', down: '↓', left: '←', right: '→' }

/** A key as short as a row of hints needs it: `^S`, `↑`, `esc`. */
export function shortChord(chord: string): string {
  const [, key] = /^ctrl\+(.+)$/.exec(chord) ?? []
  if (key !== undefined) return `^${key.length === 1 ? key.toUpperCase() : key}`
  return SHORT[chord] ?? chord
}
