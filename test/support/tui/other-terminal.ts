import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { PROJECT } from '../source-files.ts'
import { within } from '../wait-for.ts'

/** A process that keeps drafts and history beside this one. It does not outlive the test. */
export class OtherTerminal {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(folder: string, client: string) {
    const writer = join(PROJECT, 'test', 'support', 'tui', 'draft-writer.ts')
    this.#child = spawn(process.execPath, ['--import', 'tsx', writer, folder, client], {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd: PROJECT,
    })
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
    onTestFinished(() => this.kill())
  }

  /** Lets it do something and waits until it is done. */
  async does(...command: readonly string[]): Promise<void> {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`)
    await within(this.#lines.next(), 15_000, command.join(' '))
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }
}
