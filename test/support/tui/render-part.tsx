import { PassThrough } from 'node:stream'
import { type Instance, render } from 'ink'
import type { ReactNode } from 'react'
import { type App, AppProvider } from '../../../replica/tui/app/app-context.ts'
import { KeyRouter, type KeyTable } from '../../../replica/tui/keys/key-router.ts'
import { RouterProvider } from '../../../replica/tui/keys/use-actions.ts'
import { TERMINAL_THEME } from '../../../replica/tui/text/theme.ts'
import { KEY_NAMES } from '../../../replica/view/keymap/key.ts'
import { createKeyTable } from '../../../replica/view/keymap/key-table.ts'
import { waitFor } from '../wait-for.ts'

/** A part of the screen that is drawn by itself, without colours, with a router for its keys and what of `app` it uses. */
export class RenderedPart {
  readonly router: KeyRouter
  readonly #frames: string[] = []
  readonly #instance: Instance
  readonly #app: Pick<App, 'paint'>

  constructor(
    node: ReactNode,
    { columns, table = createKeyTable(), app = {} }: { columns: number; table?: KeyTable; app?: Partial<App> },
  ) {
    this.router = new KeyRouter(table)
    this.#app = { paint: { theme: TERMINAL_THEME, depth: 'none', hasLinks: false }, ...app }
    const stdout = Object.assign(new PassThrough(), { columns, rows: 100, isTTY: false })
    stdout.setEncoding('utf8')
    stdout.on('data', (text: string) => this.#frames.push(text))
    this.#instance = render(this.#around(node), {
      stdout: stdout as unknown as NodeJS.WriteStream,
      stdin: new PassThrough() as unknown as NodeJS.ReadStream,
      debug: true,
      patchConsole: false,
      exitOnCtrlC: false,
    })
  }

  /** The rows on the screen, as wide as they were drawn, without the looks of the letters. */
  get rows(): readonly string[] {
    return (this.#frames.at(-1) ?? '').replace(/\u001b\[[0-9;]*m/g, '').split('\n')
  }

  /** How often it was drawn. */
  get frameCount(): number {
    return this.#frames.length
  }

  get text(): string {
    return this.rows.join('\n')
  }

  draw(node: ReactNode): void {
    this.#instance.rerender(this.#around(node))
  }

  /** Waits until the screen says something. */
  async seen(text: string | RegExp): Promise<void> {
    await waitFor(() => (typeof text === 'string' ? this.text.includes(text) : text.test(this.text)), {
      what: `${text} on the screen`,
    })
  }

  /** Presses keys one after the other, without waiting for the screen: names of keys, `ctrl+` with a letter, or text to type. */
  press(...keys: readonly string[]): readonly boolean[] {
    return keys.map(written => {
      const ctrl = /^ctrl\+./.test(written)
      const key = ctrl ? written.slice(5) : written
      const isText = !ctrl && !(KEY_NAMES as readonly string[]).includes(key)
      return this.router.press({ key, ctrl, alt: false, shift: false, text: isText ? key : '' })
    })
  }

  close(): void {
    this.#instance.unmount()
  }

  #around(node: ReactNode): ReactNode {
    return (
      <AppProvider value={this.#app as App}>
        <RouterProvider value={this.router}>{node}</RouterProvider>
      </AppProvider>
    )
  }
}
