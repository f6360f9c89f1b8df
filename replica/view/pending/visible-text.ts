/** What a reader would not see, or what would move what stands around it: controls, formats, halves of pairs, separators, what fonts leave out. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

const PICTURE = /\p{Extended_Pictographic}\ufe0f?[\u{1f3fb}-\u{1f3ff}]?$/u
const PICTURE_NEXT = /^\p{Extended_Pictographic}/u
/** What becomes a picture by a selector behind it. */
const SELECTABLE = /[\p{Extended_Pictographic}#*0-9]$/u

/**
 * The text with every character that would not be seen shown as what it is: `␛`, `␍`, `<U+202E>`. Newlines stay, and so do the joiners and
 * selectors inside a picture. What a person agrees to is shown so: nothing of it is left out. Source: Z6, experience 6.3.
 */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character: string, at: number) =>
    character === '\n' || isInPicture(text, at, character) ? character : pictureOf(character),
  )
}

/** The same in one line: newlines are shown too. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '\u240a')
}

function isInPicture(text: string, at: number, character: string): boolean {
  // The longest picture that matters before a joiner: base, selector and skin colour, each up to two units.
  const before = text.slice(Math.max(0, at - 6), at)
  if (character === '\ufe0f') return SELECTABLE.test(before)
  return character === '\u200d' && PICTURE.test(before) && PICTURE_NEXT.test(text.slice(at + 1, at + 3))
}

function pictureOf(character: string): string {
  const point = character.codePointAt(0) as number
  if (point < 0x20) return String.fromCharCode(0x2400 + point)
  if (point === 0x7f) return '\u2421'
  return `<U+${point.toString(16).toUpperCase().padStart(4, '0')}>`
}
