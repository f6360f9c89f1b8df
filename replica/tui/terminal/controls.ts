/** What the screens may ask of the terminal, besides drawing on it. Nothing here throws, and nothing waits but `lend`. */
export interface TerminalControls {
  /** The title of the window, where the settings allow one; control characters are taken out. The former one comes back at the end. */
  setTitle(title: string): void
  /** Calls for attention: a bell, and a notification where the terminal shows them. Whether it is wanted is for the caller to say. */
  notify(text: string): void
  /** Onto the clipboard of the terminal (OSC 52). `false`: too long for terminals to take. */
  copy(text: string): boolean
  /**
   * Gives the terminal back as it was, lets `use` run another program on it, takes it again and draws anew.
   * Keys go to the other program meanwhile. One at a time: a second call rejects.
   */
  lend<T>(use: () => Promise<T>): Promise<T>
  /** Draws everything anew, whatever the terminal shows now. */
  redraw(): void
  /** Gives the terminal back and stops this process group, as Ctrl+Z does elsewhere; takes it again when it goes on. */
  suspend(): void
}
