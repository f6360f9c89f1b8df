import { terminalLine } from '../../view/terminal-text.ts'

/** What a person allows of what a terminal can do. */
export interface ModeChoice {
  readonly setsTitle: boolean
  readonly hasMouse: boolean
}

const CSI = '\u001b['
const OSC = '\u001b]'
const BEL = '\u0007'

/** Kept on stacks by the terminal: they are put there once, and taken off once. */
const PUSH_TITLE = `${CSI}22;0t`
/** Terminals without such a stack are left without a title, which shells set anew. */
const POP_TITLE = `${OSC}0;${BEL}${CSI}23;0t`
const POP_KEYS = `${CSI}<u`

/** Keys that look alike come apart: Esc and the start of a sequence, Enter and Ctrl+Enter (kitty protocol, flag 1). */
export const PUSH_KEYS = `${CSI}>1u`

/** Does it know the kitty protocol? The second question is answered by all terminals, so that its answer ends the wait for the first. */
export const ASK_KEYS = `${CSI}?u${CSI}c`

/** The alternate screen, pastes in brackets, focus told, no cursor, no wrapping; of the mouse the wheel, if wanted. May be repeated. */
export function screenModes({ hasMouse }: ModeChoice): string {
  return `${CSI}?1049h${CSI}?2004h${CSI}?1004h${CSI}?25l${CSI}?7l${hasMouse ? `${CSI}?1000h${CSI}?1006h` : ''}`
}

/** Takes the terminal. `hasKeys`: it is known to know the kitty protocol. */
export function enterText(choice: ModeChoice, hasKeys: boolean): string {
  return `${choice.setsTitle ? PUSH_TITLE : ''}${screenModes(choice)}${hasKeys ? PUSH_KEYS : ''}`
}

/** Gives everything back that `enterText` took, in the opposite order, also from the middle of a frame. */
export function leaveText({ setsTitle, hasMouse }: ModeChoice, hasKeys: boolean): string {
  const keys = hasKeys ? POP_KEYS : ''
  const mouse = hasMouse ? `${CSI}?1006l${CSI}?1000l` : ''
  const style = `${OSC}8;;${BEL}${CSI}m${CSI}?2026l`
  return `${style}${keys}${mouse}${CSI}?7h${CSI}?25h${CSI}?1004l${CSI}?2004l${CSI}?1049l${setsTitle ? POP_TITLE : ''}`
}

/** Sets the title of the window and its icon. */
export function titleText(title: string): string {
  return `${OSC}0;${terminalLine(title)}${BEL}`
}

/** A notification of the desktop (OSC 9) where the terminal shows them, and the bell. */
export function notificationText(text: string): string {
  return `${OSC}9;${terminalLine(text)}${BEL}${BEL}`
}

/** Puts a text onto the clipboard (OSC 52). */
export function clipboardText(text: string): string {
  return `${OSC}52;c;${Buffer.from(text).toString('base64')}${BEL}`
}
