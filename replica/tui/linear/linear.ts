import process from 'node:process'
import type { ReplicaStore } from '../../react/types.ts'
import type { TuiEnd, TuiOptions } from '../options.ts'
import { ENDING_SIGNALS, type EndingSignal } from '../terminal/guard.ts'
import { LineOutput } from './line-output.ts'
import { LinearShell } from './shell.ts'

/**
 * The terminal replica for screen readers: lines in order, words for states, nothing drawn and nothing taken back. The terminal stays in the mode it
 * is in, so that its own line editing works. Resolves when it was left; nothing of the leader's is stopped by that.
 * Source: experience 7.3.
 */
export async function openLinear(options: TuiOptions, store: ReplicaStore, selfId?: string): Promise<TuiEnd> {
  const out = new LineOutput(options.stdout)
  const shell = new LinearShell({ options, store, out, ...(selfId === undefined ? {} : { selfId }) })
  let ended: EndingSignal | null = null
  const onInterrupt = (): void => shell.interrupt()
  const onEnd = (signal: NodeJS.Signals): void => {
    ended = signal as EndingSignal
    shell.leave()
  }
  process.on('SIGINT', onInterrupt)
  for (const signal of ENDING) process.on(signal, onEnd)
  options.stdout.on('error', onGone)
  try {
    const end = await shell.run()
    await out.flushed()
    return ended === null ? end : { exitCode: 128 + ENDING_SIGNALS[ended], farewell: [] }
  } finally {
    process.off('SIGINT', onInterrupt)
    for (const signal of ENDING) process.off(signal, onEnd)
    options.stdout.off('error', onGone)
  }

  /** Whoever read this is gone. */
  function onGone(): void {
    onEnd('SIGHUP')
  }
}

const ENDING = ['SIGHUP', 'SIGTERM', 'SIGQUIT'] as const satisfies readonly EndingSignal[]
