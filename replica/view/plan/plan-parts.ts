import type { ExecutionStep, PlanExecution, PlanProposal, PlanStep } from '../../../schema/entities/plan.ts'
import type { AgentPlan, PlanProjection } from '../../../schema/entities/projection.ts'
import { dayWords, timeWords } from '../time-words.ts'
import { executionWords, interruptionWords, latestProposalWords, stepWords } from '../words.ts'
import { riskTexts } from './diff.ts'

/** How a state looks, beside its word. */
export type PlanTone = 'normal' | 'dim' | 'good' | 'warn' | 'accent'

/** A step as people read it. Outside of an execution `state` and `mark` are ''. */
export interface StepPart {
  readonly title: string
  readonly description: string
  readonly files: readonly string[]
  readonly complexity: string
  readonly note: string
  readonly mark: string
  readonly state: string
  readonly tone: PlanTone
}

/** How far a plan is carried out. `current` is the step that is being done, counted from 1; 0: none is. */
export interface PlanProgress {
  readonly done: number
  readonly total: number
  readonly current: number
  readonly currentTitle: string
}

/** One plan as people read it: one that was proposed, one that is carried out, or the agent's own. */
export interface PlanPart {
  readonly kind: 'proposal' | 'execution' | 'agent'
  readonly title: string
  readonly state: string
  readonly tone: PlanTone
  /** Revision, digest and time, as far as they are known. */
  readonly facts: readonly string[]
  readonly overview: string
  readonly steps: readonly StepPart[]
  readonly risks: readonly string[]
  readonly feedback: string
  readonly progress: PlanProgress | null
}

/** So much of a digest tells two plans apart. Unit: characters. */
const DIGEST_CHARS = 12

/** What is planned in a session, what can be decided on first; `shown` is the proposal that the person reads. Source: experience 6.4. */
export function planParts(
  { activeExecution, lastExecution, agentPlan }: PlanProjection,
  shown: PlanProposal | null,
): readonly PlanPart[] {
  const execution = activeExecution ?? lastExecution
  const isCarriedOut = shown !== null && shown.proposalId === execution?.proposalId
  return [
    ...(shown === null || isCarriedOut ? [] : [proposalPart(shown)]),
    ...(execution === null ? [] : [executionPart(execution, isCarriedOut ? shown : null)]),
    ...(agentPlan === null ? [] : [agentPart(agentPlan)]),
  ]
}

/** The steps of an execution that are over, and the one that is being done. */
export function progressOf({ steps }: Pick<PlanExecution, 'steps'>): PlanProgress {
  const at = steps.findIndex(({ status }) => status === 'in_progress')
  return {
    done: steps.filter(({ status }) => status === 'completed' || status === 'skipped').length,
    total: steps.length,
    current: at + 1,
    currentTitle: steps[at]?.title ?? '',
  }
}

/** The beginning of a digest. */
export function shortDigest(digest: string): string {
  return digest.replace(/^sha256:/, '').slice(0, DIGEST_CHARS)
}

function proposalPart(proposal: PlanProposal): PlanPart {
  const { title, overview = '', steps, risks, feedback = '', status } = proposal
  return {
    kind: 'proposal',
    title,
    state: latestProposalWords(proposal),
    tone: status === 'pending_approval' ? 'warn' : status === 'approved' ? 'good' : 'dim',
    facts: proposalFacts(proposal),
    overview,
    steps: steps.map(step => stepPart(step, null)),
    risks: riskTexts(risks),
    feedback,
    progress: null,
  }
}

function executionPart(execution: PlanExecution, proposal: PlanProposal | null): PlanPart {
  const { title, status, steps, interruptionReason, contentDigest, startedAt } = execution
  const state = executionWords(status)
  return {
    kind: 'execution',
    title,
    state: interruptionReason === undefined ? state : `${state}: ${interruptionWords(interruptionReason)}`,
    tone: status === 'active' ? 'accent' : status === 'completed' ? 'good' : status === 'interrupted' ? 'warn' : 'dim',
    facts: [
      ...(proposal === null ? [] : [`revision ${proposal.revision}`]),
      shortDigest(contentDigest),
      `started ${momentWords(startedAt)}`,
    ],
    overview: proposal?.overview ?? '',
    steps: steps.map(step => stepPart(step, step)),
    risks: riskTexts(proposal?.risks),
    feedback: '',
    progress: progressOf(execution),
  }
}

function agentPart({ entries, at }: AgentPlan): PlanPart {
  return {
    kind: 'agent',
    title: "The agent's own plan",
    state: 'reported by the agent, not executable',
    tone: 'dim',
    facts: [`reported ${momentWords(at)}`],
    overview: '',
    steps: entries.map(({ content, priority, status }) => ({
      ...NO_STEP,
      title: content,
      complexity: priority === '' ? '' : `${priority} priority`,
      ...stateOf(status),
    })),
    risks: [],
    feedback: '',
    progress: null,
  }
}

function proposalFacts({ revision, contentDigest, submittedAt }: PlanProposal): readonly string[] {
  return [`revision ${revision}`, shortDigest(contentDigest), `proposed ${momentWords(submittedAt)}`]
}

function momentWords(at: number): string {
  return `${dayWords(at)} ${timeWords(at)}`
}

const NO_STEP: StepPart = {
  title: '',
  description: '',
  files: [],
  complexity: '',
  note: '',
  mark: '',
  state: '',
  tone: 'normal',
}

function stepPart(step: PlanStep, progress: Pick<ExecutionStep, 'status' | 'note'> | null): StepPart {
  const { title, description, files = [], complexity } = step
  return {
    ...NO_STEP,
    title,
    description,
    files,
    complexity: complexity === undefined ? '' : `complexity: ${complexity}`,
    ...(progress === null ? {} : { note: progress.note ?? '', ...stateOf(progress.status) }),
  }
}

const STEP_LOOKS: Readonly<Record<string, { readonly mark: string; readonly tone: PlanTone }>> = {
  pending: { mark: '[ ]', tone: 'normal' },
  in_progress: { mark: '[>]', tone: 'accent' },
  completed: { mark: '[x]', tone: 'good' },
  skipped: { mark: '[-]', tone: 'dim' },
}

function stateOf(status: string): Pick<StepPart, 'mark' | 'state' | 'tone'> {
  const look = Object.hasOwn(STEP_LOOKS, status) ? STEP_LOOKS[status] : undefined
  return { mark: look?.mark ?? '[ ]', tone: look?.tone ?? 'normal', state: stepWords(status) }
}
