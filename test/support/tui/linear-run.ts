import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { onTestFinished } from 'vitest'
import { openLinear } from '../../../replica/tui/linear/linear.ts'
import type { TuiEnd, TuiOptions } from '../../../replica/tui/options.ts'
import { storeOf } from '../react/screen-store.ts'
import { waitFor } from '../wait-for.ts'

/** The linear mode on streams of a test: what a person types, and what was said so far. */
export interface LinearRun {
  readonly ended: Promise<TuiEnd>
  /** All that was written. */
  said(): string
  /** What was written since this was asked last, line by line. */
  fresh(): readonly string[]
  type(line: string): void
  /** Waits until something is said that was not asked for by `fresh` yet. */
  hears(text: string | RegExp): Promise<void>
}

/** Opens the linear mode on a root whose leader this replica looks for; it is left when the test ends. */
export function runLinear(root: string, options: Partial<TuiOptions> = {}): LinearRun {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  stdout.setEncoding('utf8')
  let text = ''
  let from = 0
  stdout.on('data', (piece: string) => {
    text += piece
  })
  const ended = openLinear(linearOptions({ stdin, stdout }, options), storeOf(root))
  onTestFinished(async () => {
    stdin.end('/leave\n')
    await ended
  })
  return {
    ended,
    said: () => text,
    fresh: () => {
      const lines = text.slice(from).split('\n').slice(0, -1)
      from = text.length
      return lines
    },
    type: line => void stdin.write(`${line}\n`),
    hears: async expected =>
      void (await waitFor(
        () => {
          const heard = text.slice(from)
          return typeof expected === 'string' ? heard.includes(expected) : expected.test(heard)
        },
        { what: `${expected} to be said, after ${JSON.stringify(text.slice(from))}` },
      )),
  }
}

function linearOptions(
  { stdin, stdout }: { readonly stdin: PassThrough; readonly stdout: PassThrough },
  options: Partial<TuiOptions>,
): TuiOptions {
  return {
    stdin: stdin as unknown as ReadStream,
    stdout: stdout as unknown as WriteStream,
    env: {},
    cwd: '/somewhere',
    connect: async () => ({ kind: 'unavailable', reason: 'the store of the test connects' }),
    openOffline: async () => null,
    place: {},
    address: '/root',
    places: { state: '/nowhere', keymap: '/nowhere/keymap.jsonc' },
    settings: {
      enterWhileRunning: 'follow_up',
      confirmInterrupt: false,
      notifications: 'never',
      hasMouse: false,
      setsTitle: false,
      theme: 'terminal',
    },
    problems: [],
    backend: { name: 'scripted', isFallback: true },
    colour: 'none',
    isLinear: true,
    version: '1.2.3',
    ...options,
  }
}
