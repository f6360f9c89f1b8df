import type { ActionId, KeyContext } from '../../view/keymap/actions.ts'
import { shortChord } from '../../view/keymap/chord.ts'
import { useRouter } from '../keys/use-actions.ts'
import type { FootKeys } from './foot-line.ts'

/** The keys that the foot of a transcript names, as they are in force where the person is. */
export function useFootKeys(isFocused: boolean): FootKeys {
  const { table } = useRouter()
  const keyOf = (action: ActionId, context: KeyContext): string => {
    const [chord] = table.keysOf(action, context)
    return chord === undefined ? '' : shortChord(chord)
  }
  return {
    newest: isFocused ? keyOf('move.bottom', 'transcript') : keyOf('move.page_down', 'composer'),
    older: keyOf('item.open', 'transcript'),
    newer: table.keysOf('move.down', 'transcript').includes('down') ? shortChord('down') : '',
  }
}
