import { type EditorState, erasedBack, erasedForward, undone, unfolded } from './editor.ts'
import {
  killedChunkBack,
  killedToLineEnd,
  killedToLineStart,
  killedWordBack,
  killedWordForward,
  yanked,
  yankedEarlier,
} from './kills.ts'
import {
  movedLeft,
  movedRight,
  movedToEnd,
  movedToLineEnd,
  movedToLineStart,
  movedToStart,
  movedWordLeft,
  movedWordRight,
} from './moves.ts'

/** What a key does to the text of the composer, and a sentence for help. */
export interface Editing {
  readonly keys: readonly string[]
  readonly label: string
  readonly apply: (state: EditorState) => EditorState
}

/** The keys that move and change text in the composer, as shells have them; fixed, and asked after the table of actions. Source: experience 7.2. */
export const EDITINGS: readonly Editing[] = [
  { keys: ['left', 'ctrl+b'], label: 'One character back', apply: movedLeft },
  { keys: ['right', 'ctrl+f'], label: 'One character on', apply: movedRight },
  { keys: ['alt+b', 'ctrl+left', 'alt+left'], label: 'One word back', apply: movedWordLeft },
  { keys: ['alt+f', 'ctrl+right', 'alt+right'], label: 'One word on', apply: movedWordRight },
  { keys: ['ctrl+a', 'home'], label: 'To the beginning of the line', apply: movedToLineStart },
  { keys: ['ctrl+e', 'end'], label: 'To the end of the line', apply: movedToLineEnd },
  { keys: ['alt+<', 'ctrl+home'], label: 'To the beginning of the text', apply: movedToStart },
  { keys: ['alt+>', 'ctrl+end'], label: 'To the end of the text', apply: movedToEnd },
  { keys: ['backspace', 'ctrl+h', 'shift+backspace'], label: 'Take the character before away', apply: erasedBack },
  { keys: ['delete', 'ctrl+d'], label: 'Take the character after away', apply: erasedForward },
  { keys: ['ctrl+w'], label: 'Cut what stands before, up to white space', apply: killedChunkBack },
  { keys: ['alt+backspace', 'ctrl+backspace'], label: 'Cut the word before', apply: killedWordBack },
  { keys: ['alt+d', 'alt+delete', 'ctrl+delete'], label: 'Cut the word after', apply: killedWordForward },
  { keys: ['ctrl+u'], label: 'Cut to the beginning of the line', apply: killedToLineStart },
  { keys: ['ctrl+k'], label: 'Cut to the end of the line', apply: killedToLineEnd },
  { keys: ['ctrl+y'], label: 'Put in what was cut', apply: yanked },
  { keys: ['alt+y'], label: 'Put in what was cut before instead', apply: yankedEarlier },
  { keys: ['ctrl+_', 'ctrl+/', 'ctrl+-', 'ctrl+7'], label: 'Undo', apply: undone },
  { keys: ['alt+o'], label: 'Unfold the pasted text before the cursor', apply: unfolded },
]

const BY_KEY: ReadonlyMap<string, Editing> = new Map(
  EDITINGS.flatMap(editing => editing.keys.map(key => [key, editing] as const)),
)

/** What a key does to the text, if anything. */
export function editingOf(chord: string): Editing | undefined {
  return BY_KEY.get(chord)
}
