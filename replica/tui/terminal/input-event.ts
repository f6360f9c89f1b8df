import type { KeyPress } from '../../view/keymap/key.ts'

/** What a terminal answers when it is asked. `kitty`: it knows the protocol; `attributes`: it has answered everything asked before. */
export type TerminalReply =
  | { readonly what: 'kitty'; readonly flags: number }
  | { readonly what: 'attributes' }
  /** Each channel 0 to 255. */
  | { readonly what: 'background'; readonly red: number; readonly green: number; readonly blue: number }

/** What came from the terminal. `text` of a paste has only `\n` for line ends; `delta` −1: up, 1: down. */
export type InputEvent =
  | { readonly kind: 'key'; readonly press: KeyPress }
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'focus'; readonly isFocused: boolean }
  | { readonly kind: 'wheel'; readonly delta: -1 | 1 }
  | { readonly kind: 'reply'; readonly reply: TerminalReply }
