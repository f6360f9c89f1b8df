import type { PaletteChoice, PaletteEntry } from '../../view/palette.ts'
import { Picker } from './picker.tsx'

/** The palette: every command that does something now, with its key, and the sessions. Source: experience 7.2. */
export function Palette(props: {
  readonly entries: readonly PaletteEntry[]
  /** What is typed already. */
  readonly filter?: string
  readonly columns: number
  readonly rows: number
  onRun(choice: PaletteChoice): void
  onClose(): void
}) {
  return <Picker title="command" {...props} />
}
