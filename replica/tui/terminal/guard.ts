import process from 'node:process'
import type { TerminalInput } from './input.ts'
import { ASK_KEYS, enterText, leaveText, type ModeChoice, PUSH_KEYS, screenModes } from './modes.ts'
import type { Outlet } from './outlet.ts'

/** A signal that ends a program; its number is what is added to 128 for the exit code. */
export const ENDING_SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 } as const
/** One of them. */
export type EndingSignal = keyof typeof ENDING_SIGNALS

/** What the guard works on and tells of. */
export interface GuardParts {
  readonly input: TerminalInput
  readonly outlet: Outlet
  readonly modes: ModeChoice
  /** A signal came. The terminal is given back, or will be as soon as what is on its way to it has arrived. */
  onSignal(signal: EndingSignal): void
  /** The terminal was taken again: it shows nothing of ours, and its size may be another. */
  onReturn(): void
}

/** How long something on its way to a slow terminal is waited for. */
const SETTLE_MS = 500
/** How long it takes to be stopped; who still runs then cannot be. */
const STOP_MS = 100
/** How long an answer of the terminal is waited for at the end, so that the shell does not get it, and how old a question may be. */
const ANSWER_MS = 150
const ASKED_LATELY_MS = 2_000

/**
 * Keeps the terminal as it was: what is taken is given back at the end, at a signal, at an exception nobody caught, at `process.exit`, and for
 * the time that another program has the terminal.
 *
 *   new ── enter ──▶ in ──▶ lent ──▶ in          `out` is for ever
 *                    in ──▶ stopped ──▶ in
 *                    any ──▶ out
 *
 * Source: experience 7.3.
 */
export class TerminalGuard {
  readonly #parts: GuardParts
  #state: 'new' | 'in' | 'lent' | 'stopped' | 'out' = 'new'
  #hasKeys = false
  #hasTerminal = false
  #askedAt: number | null = null
  #onAnswer: () => void = () => {}

  constructor(parts: GuardParts) {
    this.#parts = parts
  }

  /** Takes the terminal, and watches over the process from now on. */
  enter(): void {
    if (this.#state !== 'new') return
    this.#state = 'in'
    process.on('exit', this.#giveBack).on('uncaughtExceptionMonitor', this.#giveBack)
    for (const signal of signals()) process.on(signal, this.#end)
    if (canStop()) process.on('SIGTSTP', this.#onStop).on('SIGCONT', this.#onContinue)
    this.#take(ASK_KEYS)
    this.#askedAt = performance.now()
  }

  /** The terminal answered that it knows the kitty protocol. */
  keysFound(): void {
    if (this.#hasKeys || this.#state !== 'in') return
    this.#hasKeys = this.#parts.outlet.write(PUSH_KEYS)
  }

  /** The terminal answered all that it was asked. */
  answered(): void {
    this.#askedAt = null
    this.#onAnswer()
  }

  /** Gives the terminal back and forgets the process. */
  async leave(): Promise<void> {
    if (this.#state === 'in') {
      await this.#parts.outlet.settled(SETTLE_MS)
      await this.#lastAnswer()
    }
    this.#giveBack()
    process.off('exit', this.#giveBack).off('uncaughtExceptionMonitor', this.#giveBack)
    for (const signal of signals()) process.off(signal, this.#end)
    if (canStop()) process.off('SIGTSTP', this.#onStop).off('SIGCONT', this.#onContinue)
  }

  /** Source: experience 6.1, 7.2. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    if (this.#state !== 'in') throw new Error('the terminal is not here to be lent')
    this.#state = 'lent'
    await this.#parts.outlet.settled(SETTLE_MS)
    this.#drop()
    try {
      return await use()
    } finally {
      this.#return('lent')
    }
  }

  /** Stops all processes of this group, as the terminal would; who is not stopped goes on. */
  async suspend(): Promise<void> {
    if (this.#state !== 'in' || !canStop()) return
    this.#state = 'stopped'
    await this.#parts.outlet.settled(SETTLE_MS)
    this.#drop()
    process.off('SIGTSTP', this.#onStop)
    process.kill(0, 'SIGTSTP')
    setTimeout(() => this.#continue(), STOP_MS)
  }

  #continue(): void {
    if (this.#state !== 'stopped') return
    process.on('SIGTSTP', this.#onStop)
    this.#return('stopped')
  }

  #return(from: 'lent' | 'stopped'): void {
    if (this.#state !== from) return
    this.#state = 'in'
    this.#take('')
    this.#parts.onReturn()
  }

  #take(question: string): void {
    const { input, outlet, modes } = this.#parts
    this.#hasTerminal = true
    input.open()
    outlet.open(enterText(modes, this.#hasKeys) + question)
  }

  #drop(): void {
    if (!this.#hasTerminal) return
    this.#hasTerminal = false
    const { input, outlet, modes } = this.#parts
    outlet.close(leaveText(modes, this.#hasKeys))
    input.close()
  }

  readonly #giveBack = (): void => {
    this.#state = 'out'
    this.#drop()
  }

  /** The first signal ends in order, the second at once. While another program has the terminal, its keys are none of ours. */
  readonly #end = (signal: EndingSignal): void => {
    if (this.#state === 'lent' && (signal === 'SIGINT' || signal === 'SIGQUIT')) return
    if (this.#state === 'out') {
      for (const name of signals()) process.off(name, this.#end)
      process.kill(process.pid, signal)
      return
    }
    if (this.#parts.outlet.isBusy && this.#state === 'in') {
      this.#state = 'out'
      void this.#parts.outlet.settled(SETTLE_MS).then(this.#giveBack)
    } else this.#giveBack()
    this.#parts.onSignal(signal)
  }

  /** The program that has the terminal stops, and we with it; it is the one that gives the terminal back. */
  readonly #onStop = (): void => {
    if (this.#state === 'lent') process.kill(process.pid, 'SIGSTOP')
    else void this.suspend()
  }

  readonly #onContinue = (): void => {
    if (this.#state === 'stopped') this.#continue()
    else if (this.#state === 'in') this.#retake()
  }

  /** Stopped without being asked: whoever had the terminal meanwhile left it as they liked. */
  #retake(): void {
    const { input, outlet, modes } = this.#parts
    input.close()
    input.open()
    outlet.write(screenModes(modes))
    this.#parts.onReturn()
  }

  async #lastAnswer(): Promise<void> {
    if (this.#askedAt === null || performance.now() - this.#askedAt > ASKED_LATELY_MS) return
    await new Promise<void>(resolve => {
      this.#onAnswer = resolve
      setTimeout(resolve, ANSWER_MS)
    })
  }
}

function signals(): readonly EndingSignal[] {
  return Object.keys(ENDING_SIGNALS) as EndingSignal[]
}

function canStop(): boolean {
  return process.platform !== 'win32'
}
