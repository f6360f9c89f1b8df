/**
 * One key as it was pressed. `key` is a printable character as typed (`a`, `A`, `?`) or a name (`enter`, `up`, `f1`); `text` is what typing
 * it inserts, '' for none. Shift is told only of named keys: a printable character has it in itself.
 */
export interface KeyPress {
  readonly key: string
  readonly ctrl: boolean
  readonly alt: boolean
  readonly shift: boolean
  readonly text: string
}

/** The keys that have a name. */
export const KEY_NAMES = [
  'enter',
  'esc',
  'tab',
  'space',
  'backspace',
  'delete',
  'insert',
  'up',
  'down',
  'left',
  'right',
  'home',
  'end',
  'pgup',
  'pgdn',
  'f1',
  'f2',
  'f3',
  'f4',
  'f5',
  'f6',
  'f7',
  'f8',
  'f9',
  'f10',
  'f11',
  'f12',
] as const

/** A key in the notation of the key table and of `keymap.jsonc`: `ctrl+s`, `shift+enter`, `alt+b`, `?`, `space`. */
export function chordOf({ key, ctrl, alt, shift }: KeyPress): string {
  const name = key === ' ' ? 'space' : key
  return `${ctrl ? 'ctrl+' : ''}${alt ? 'alt+' : ''}${shift && name.length > 1 ? 'shift+' : ''}${name}`
}
