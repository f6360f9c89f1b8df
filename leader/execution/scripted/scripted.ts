import { type Backend, BackendFailure, type RunContext } from '../backend.ts'
import { type ElapsedClock, pause, systemClock } from '../clock.ts'
import { callChild } from './child.ts'
import { askPermission, askQuestions } from './dialogue.ts'
import { carryOutPlan, proposePlan, scriptedExecution } from './plan.ts'
import { streamReply, takeSteering } from './reply.ts'
import { readScript, type Script } from './script.ts'
import { workThroughTasks } from './tasks.ts'

const ERROR_DELAY_MS = 250
const HOLD_INTERVAL_MS = 45
const STREAM_PIECE_BYTES = 4 * 1024
const TOOL_LINE = 'The quick brown fox jumps over the lazy dog, again and again.\n'

/** What a scripted backend may be given: a clock of one's own makes it deterministic, `kind` another name. */
export interface ScriptedOptions {
  readonly clock?: ElapsedClock
  readonly kind?: string
}

/** The backend for demos and tests: does what its prompt says, the same way every time. Source: F. */
export function createScriptedBackend(options: ScriptedOptions = {}): Backend {
  const clock = options.clock ?? systemClock
  return {
    kind: options.kind ?? 'scripted',
    takesSteering: true,
    start: run => {
      const execution = scriptedExecution(run)
      return execution === null ? play(run, readScript(run.input.text), clock) : carryOutPlan(run, execution, clock)
    },
  }
}

async function play(run: RunContext, script: Script, clock: ElapsedClock): Promise<void> {
  switch (script.kind) {
    case 'reply':
      return streamReply(run, script.text, clock)
    case 'ask':
      return askQuestions(run)
    case 'permission':
      return askPermission(run)
    case 'plan':
      return run.session.collaborationMode === 'plan' ? proposePlan(run) : streamReply(run, run.input.text, clock)
    case 'tasks':
      return workThroughTasks(run, clock)
    case 'wait_steering':
      await run.steeringWaits()
      return streamReply(run, run.input.text, clock)
    case 'child':
      return callChild(run, script)
    case 'hold':
      return hold(run, clock)
    case 'tool':
      return callTool(run, script.bytes)
    case 'stream':
      return stream(run, script.bytes)
    case 'error':
      await pause(clock, ERROR_DELAY_MS, run.signal)
      throw new BackendFailure(script.failureClass, `scripted failure of class ${script.failureClass}`)
    case 'crash':
      throw new BackendFailure('backend_exited', 'the scripted process exited with code 1')
    default:
      script satisfies never
  }
}

/** Ends only by a stop: waiting for steering then rejects. A steer that may not be pulled yet is not asked for without a pause. */
async function hold(run: RunContext, clock: ElapsedClock): Promise<void> {
  for (;;) {
    await run.steeringWaits()
    const steers = await takeSteering(run)
    for (const steer of steers) await run.text(steer)
    if (steers.length === 0) await pause(clock, HOLD_INTERVAL_MS, run.signal)
  }
}

async function callTool(run: RunContext, bytes: number): Promise<void> {
  const output = TOOL_LINE.repeat(Math.ceil(bytes / TOOL_LINE.length)).slice(0, bytes)
  await run.toolStart({
    toolCallId: 'scripted-tool',
    name: 'print',
    title: `Print ${bytes} bytes`,
    input: String(bytes),
  })
  await run.toolEnd({ toolCallId: 'scripted-tool', status: 'completed', output })
}

/** As fast as the session takes it: each piece waits until it is durable. */
async function stream(run: RunContext, bytes: number): Promise<void> {
  const piece = TOOL_LINE.repeat(Math.ceil(STREAM_PIECE_BYTES / TOOL_LINE.length)).slice(0, STREAM_PIECE_BYTES)
  for (let sent = 0; sent < bytes; sent += STREAM_PIECE_BYTES) await run.text(piece.slice(0, bytes - sent))
}
