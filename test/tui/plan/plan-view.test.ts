import { expect, test } from 'vitest'
import { decide, UNDECIDED } from '../../../replica/view/plan/decision.ts'
import { listDiff, planDiff } from '../../../replica/view/plan/diff.ts'
import { planParts } from '../../../replica/view/plan/plan-parts.ts'
import { arrivedOf, NOTHING_READ, readOn, turnTo } from '../../../replica/view/plan/reading.ts'
import { canonicalDigest } from '../../../schema/digest.ts'
import type { PlanContent, PlanExecution, PlanProposal } from '../../../schema/entities/plan.ts'
import type { PlanProjection } from '../../../schema/entities/projection.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { seededRandom, testSeed } from '../../support/random.ts'

const step = (id: string, title = `Step ${id}`, description = '') => ({ id, title, description })

function proposal(revision: number, more: Partial<PlanProposal> = {}): PlanProposal {
  const content: PlanContent = { title: 'Fix it', steps: [step('a'), step('b')] }
  return {
    planId: 'plan',
    proposalId: `proposal-${revision}`,
    sessionId: 's',
    turnId: 't',
    revision,
    contentDigest: canonicalDigest(content),
    ...content,
    status: 'pending_approval',
    submittedAt: 1,
    ...more,
  }
}

const EMPTY: PlanProjection = {
  storeVersion: 0,
  latestProposal: null,
  activeExecution: null,
  lastExecution: null,
  agentPlan: null,
}

test('experience 6.4 a revision that waits is not replaced under the eyes of its reader; it is turned to', () => {
  const [one, two, three] = [proposal(1), proposal(2), proposal(3)]
  const first = readOn(NOTHING_READ, one)
  expect(first).toEqual({ shown: one, previous: null })
  const held = readOn(first, two)
  expect(held).toBe(first)
  expect(arrivedOf(held, two)).toBe(two)
  expect(readOn(held, three)).toBe(first)
  const turned = turnTo(held, three)
  expect(turned).toEqual({ shown: three, previous: one })
  expect(arrivedOf(turned, three)).toBeNull()
})

test('experience 6.4 what does not wait any more gives way at once, and is kept to compare with', () => {
  const [one, two] = [proposal(1), proposal(2)]
  const sentBack = proposal(1, { status: 'stale', feedback: 'no' })
  const first = readOn(readOn(NOTHING_READ, one), sentBack)
  expect(first.shown).toBe(sentBack)
  expect(readOn(first, two)).toEqual({ shown: two, previous: sentBack })
  const approved = proposal(2, { status: 'approved' })
  expect(readOn(readOn(NOTHING_READ, one), approved).shown).toBe(approved)
  expect(readOn(first, null)).toEqual(NOTHING_READ)
})

test('P4 P10 experience 6.4 a decision is asked once, sent once, and never about what was replaced', () => {
  const press = { choice: 'approve', subject: 'p1', newest: 'p1' } as const
  const asked = decide(UNDECIDED, press)
  expect(asked).toEqual({ decision: { at: 'asked', choice: 'approve', subject: 'p1' }, effect: 'ask' })
  const sent = decide(asked.decision, press)
  expect(sent).toEqual({ decision: { at: 'sending', choice: 'approve', subject: 'p1' }, effect: 'send' })
  expect(decide(sent.decision, press)).toEqual({ decision: sent.decision, effect: 'wait' })
  expect(decide(sent.decision, { ...press, choice: 'abandon' }).effect).toBe('wait')
  expect(decide(asked.decision, { ...press, newest: 'p2' })).toEqual({ decision: UNDECIDED, effect: 'newer' })
  expect(decide(asked.decision, { choice: 'approve', subject: 'p2', newest: 'p2' }).effect).toBe('ask')
  expect(decide(asked.decision, { ...press, choice: 'abandon' }).effect).toBe('ask')
  expect(decide(UNDECIDED, { ...press, choice: 'resume' }).effect).toBe('send')
})

test('experience 6.4 the difference names what was added, taken out and changed', () => {
  const from = { title: 'Fix it', overview: 'one\ntwo', steps: [step('a'), step('b'), step('c')], risks: 'fire' }
  const to = {
    title: 'Fix it well',
    overview: 'one\n2',
    steps: [step('a'), step('x', 'Step c', 'more'), step('d')],
    risks: ['fire', 'water'],
  }
  expect(planDiff(from, to)).toEqual({
    title: { kind: 'changed', before: 'Fix it', value: 'Fix it well' },
    overview: [
      expect.objectContaining({ kind: 'same', value: 'one' }),
      { kind: 'removed', value: 'two' },
      { kind: 'added', value: '2' },
    ],
    steps: [
      { kind: 'same', value: step('a') },
      { kind: 'removed', value: step('b') },
      { kind: 'changed', before: step('c'), value: step('x', 'Step c', 'more') },
      { kind: 'added', value: step('d') },
    ],
    risks: [expect.objectContaining({ kind: 'same', value: 'fire' }), { kind: 'added', value: 'water' }],
    isSame: false,
  })
  expect(planDiff(from, from).isSame).toBe(true)
})

test('experience 6.4 a difference turns one list into the other, by the shortest way, and in bounded work', () => {
  const random = seededRandom(testSeed())
  for (let round = 0; round < 200; round++) {
    const list = () => Array.from({ length: random.between(0, 8) }, () => random.pick([...'abcd']))
    const [from, to] = [list(), list()]
    const found = listDiff(from, to, (a, b) => a === b)
    const why = `seed ${random.seed}, round ${round}`
    expect(
      found.filter(({ kind }) => kind !== 'added').map(({ value }) => value),
      why,
    ).toEqual(from)
    expect(
      found.filter(({ kind }) => kind !== 'removed').map(({ value }) => value),
      why,
    ).toEqual(to)
    expect(
      found.filter(({ kind }) => kind === 'same'),
      why,
    ).toHaveLength(longestCommon(from, to))
  }
  let asked = 0
  const long = (name: string) => ['head', ...Array.from({ length: 5_000 }, (_, i) => `${name}${i}`), 'tail']
  const far = listDiff(long('a'), long('b'), (a, b) => {
    asked++
    return a === b
  })
  expect(far.filter(({ kind }) => kind === 'same').map(({ value }) => value)).toEqual(['head', 'tail'])
  expect(asked).toBeLessThan(LIMITS.planDiffCells)
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0
  if (a[0] === b[0]) return 1 + longestCommon(a.slice(1), b.slice(1))
  return Math.max(longestCommon(a.slice(1), b), longestCommon(a, b.slice(1)))
}

test('experience 6.4 what can be decided stands first; a plan that is carried out shows how far', () => {
  const one = proposal(1, { status: 'approved', overview: 'why', risks: ['fire'] })
  const execution: PlanExecution = {
    executionId: 'e',
    planId: 'plan',
    proposalId: 'proposal-1',
    contentDigest: one.contentDigest,
    title: 'Fix it',
    status: 'interrupted',
    interruptionReason: 'leader_restarted',
    steps: [
      { ...step('a'), status: 'completed' },
      { ...step('b'), status: 'in_progress', note: 'half' },
    ],
    startedAt: 1,
  }
  const [only, ...none] = planParts({ ...EMPTY, latestProposal: one, lastExecution: execution }, one)
  expect(none).toEqual([])
  expect(only).toMatchObject({
    kind: 'execution',
    state: 'interrupted: the leader ended and started again',
    overview: 'why',
    risks: ['fire'],
    progress: { done: 1, total: 2, current: 2, currentTitle: 'Step b' },
    steps: [
      { mark: '[x]', state: 'done' },
      { mark: '[>]', state: 'in progress', note: 'half' },
    ],
  })
  const two = proposal(2)
  const agentPlan = { entries: [{ content: 'look', priority: 'high', status: 'thinking_hard' }], at: 1 }
  const parts = planParts({ ...EMPTY, latestProposal: two, lastExecution: execution, agentPlan }, two)
  expect(parts.map(({ kind, state }) => [kind, state])).toEqual([
    ['proposal', 'waits for approval'],
    ['execution', 'interrupted: the leader ended and started again'],
    ['agent', 'reported by the agent, not executable'],
  ])
  expect(parts[2]?.steps).toMatchObject([{ title: 'look', state: 'thinking hard', complexity: 'high priority' }])
  expect(planParts(EMPTY, null)).toEqual([])
})
