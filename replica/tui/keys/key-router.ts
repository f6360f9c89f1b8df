import type { ActionId, KeyContext } from '../../view/keymap/actions.ts'
import { chordOf, type KeyPress } from '../../view/keymap/key.ts'
import type { EffectiveKeys } from '../../view/keymap/key-table.ts'

/** Which actions a key stands for in a context, the first that applies wins; and the keys of an action, the one to be shown first. */
export type KeyTable = Pick<EffectiveKeys, 'actionsFor' | 'keysOf'>

/** What a part of the screen does for an action. `false`: it does not apply now, the next one may have the key. */
export type ActionHandlers = Partial<Readonly<Record<ActionId, (press: KeyPress) => unknown>>>

/** A part of the screen that takes keys. */
export interface KeyLayer {
  readonly context: KeyContext
  readonly handlers: ActionHandlers
  /** A key that is no action here; `text` is '' for one that inserts nothing (arrows in an editor). `false`: not taken. */
  readonly onText?: (text: string, press: KeyPress) => unknown
  /** Text that was pasted, as one thing. `false`: not taken. */
  readonly onPaste?: (text: string) => unknown
  /** What lies below takes no key, except the global layer. */
  readonly isModal?: boolean
  /**
   * What has others inside it lies below them, though it may have come later: 0 for the whole terminal, 1 for a screen; default 2, a part of a
   * screen.
   */
  readonly level?: 0 | 1 | 2
}

const levelOf = ({ level }: KeyLayer): number => level ?? 2

/** What a handler gets when no key was pressed. */
const NO_KEY: KeyPress = { key: '', ctrl: false, alt: false, shift: false, text: '' }

/** Gives each key to the innermost layer that has a use for it; of two of one level the one that came later. */
export class KeyRouter {
  readonly #layers: { current: KeyLayer }[] = []
  readonly #listeners = new Set<() => void>()
  #table: KeyTable
  #version = 0

  constructor(table: KeyTable) {
    this.#table = table
  }

  /** The table in force; another one is used from the next key on. */
  get table(): KeyTable {
    return this.#table
  }

  set table(table: KeyTable) {
    this.#table = table
    this.#changed()
  }

  /** Counts what changed about the layers and the table, for `subscribe`. */
  get version(): number {
    return this.#version
  }

  /** Calls the listener when layers come or go, or the table changes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Puts a layer on top of those of its level; the returned function takes it away. `current` is read at each key. */
  add(layer: { current: KeyLayer }): () => void {
    const level = levelOf(layer.current)
    const above = this.#layers.findIndex(({ current }) => levelOf(current) > level)
    this.#layers.splice(above === -1 ? this.#layers.length : above, 0, layer)
    this.#changed()
    return () => {
      const at = this.#layers.indexOf(layer)
      if (at === -1) return
      this.#layers.splice(at, 1)
      this.#changed()
    }
  }

  /** True if something was done. */
  press(press: KeyPress): boolean {
    const chord = chordOf(press)
    for (const layer of this.#reachable()) {
      for (const action of this.#table.actionsFor(layer.context, chord)) {
        const handler = layer.handlers[action]
        if (handler !== undefined && handler(press) !== false) return true
      }
      if (layer.onText !== undefined && layer.onText(press.text, press) !== false) return true
    }
    return false
  }

  /** Does what a key of this action would do, for the palette. True if something was done. */
  run(action: ActionId): boolean {
    return this.#reachable().some(({ handlers }) => {
      const handler = handlers[action]
      return handler !== undefined && handler(NO_KEY) !== false
    })
  }

  /** True if something took the text. */
  paste(text: string): boolean {
    return this.#reachable().some(({ onPaste }) => onPaste !== undefined && onPaste(text) !== false)
  }

  /** The actions that would do something now, innermost first, for help and hints. */
  offered(): readonly { readonly context: KeyContext; readonly action: ActionId }[] {
    return this.#reachable().flatMap(({ context, handlers }) =>
      (Object.keys(handlers) as ActionId[]).map(action => ({ context, action })),
    )
  }

  #changed(): void {
    this.#version++
    for (const listener of this.#listeners) listener()
  }

  #reachable(): readonly KeyLayer[] {
    const found: KeyLayer[] = []
    for (let i = this.#layers.length - 1; i >= 0; i--) {
      const layer = (this.#layers[i] as { current: KeyLayer }).current
      found.push(layer)
      if (layer.isModal !== true) continue
      found.push(...this.#layers.slice(0, i).flatMap(({ current }) => (current.context === 'global' ? [current] : [])))
      break
    }
    return found
  }
}
