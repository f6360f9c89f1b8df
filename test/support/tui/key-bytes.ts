const ESC = '\u001b'

/** What xterm sends for the keys that have a name. */
const NAMED: Readonly<Record<string, string>> = {
  enter: '\r',
  esc: ESC,
  tab: '\t',
  space: ' ',
  backspace: '\u007f',
  delete: `${ESC}[3~`,
  insert: `${ESC}[2~`,
  up: `${ESC}[A`,
  down: `${ESC}[B`,
  right: `${ESC}[C`,
  left: `${ESC}[D`,
  home: `${ESC}[H`,
  end: `${ESC}[F`,
  pgup: `${ESC}[5~`,
  pgdn: `${ESC}[6~`,
  f1: `${ESC}OP`,
  f2: `${ESC}OQ`,
  f3: `${ESC}OR`,
  f4: `${ESC}OS`,
  f5: `${ESC}[15~`,
  'shift+tab': `${ESC}[Z`,
  'shift+up': `${ESC}[1;2A`,
  'shift+down': `${ESC}[1;2B`,
  'shift+enter': `${ESC}[13;2u`,
  'ctrl+enter': `${ESC}[13;5u`,
  'ctrl+left': `${ESC}[1;5D`,
  'ctrl+right': `${ESC}[1;5C`,
}

/** The bytes of a key in the notation of the key table: `ctrl+s`, `alt+b`, `shift+enter`, `?`. */
export function keyBytes(chord: string): string {
  const named = NAMED[chord]
  if (named !== undefined) return named
  const rest = /^(ctrl|alt)\+(.+)$/.exec(chord)
  if (rest?.[1] === 'alt') return `${ESC}${keyBytes(rest[2] as string)}`
  if (rest?.[1] === 'ctrl' && rest[2]?.length === 1)
    return String.fromCharCode(rest[2].toUpperCase().charCodeAt(0) & 0x1f)
  if ([...chord].length !== 1) throw new Error(`no terminal sends ${chord}`)
  return chord
}
