import type { PlanContent, PlanStep } from '../../../schema/entities/plan.ts'
import { LIMITS } from '../../../schema/limits.ts'

/** What became of one thing of a list. */
export type Change<T> =
  | { readonly kind: 'same' | 'added' | 'removed'; readonly value: T }
  | { readonly kind: 'changed'; readonly before: T; readonly value: T }

/** What a newer revision of a plan changes. */
export interface PlanDiff {
  readonly title: Change<string>
  readonly overview: readonly Change<string>[]
  readonly steps: readonly Change<PlanStep>[]
  readonly risks: readonly Change<string>[]
  /** Nothing is different. */
  readonly isSame: boolean
}

/** What somebody may read of a plan. */
export type PlanText = Pick<PlanContent, 'title' | 'overview' | 'steps' | 'risks'>

/** The difference between two revisions: steps are the same ones by their id or title, texts line by line. Source: experience 6.4. */
export function planDiff(from: PlanText, to: PlanText): PlanDiff {
  const title: Change<string> =
    from.title === to.title
      ? { kind: 'same', value: to.title }
      : { kind: 'changed', before: from.title, value: to.title }
  const overview = listDiff(textLines(from.overview), textLines(to.overview), isEqual)
  const risks = listDiff(riskTexts(from.risks), riskTexts(to.risks), isEqual)
  const steps = listDiff(from.steps, to.steps, isSameStep).map(stepChange)
  const isSame = [title, ...overview, ...steps, ...risks].every(({ kind }) => kind === 'same')
  return { title, overview, steps, risks, isSame }
}

/** The risks of a plan one by one. */
export function riskTexts(risks: PlanText['risks']): readonly string[] {
  const listed = risks === undefined ? [] : typeof risks === 'string' ? [risks] : risks
  return listed.filter(risk => risk !== '')
}

interface Pair<T> {
  readonly before: T
  readonly value: T
}

type Step<T> = ({ readonly kind: 'same' } & Pair<T>) | { readonly kind: 'added' | 'removed'; readonly value: T }

/**
 * The shortest way from one list to the other by taking out and putting in, what goes before what comes. Lists that differ in more than
 * `LIMITS.planDiffCells` pairs are replaced as a whole, but for what they begin and end with alike.
 */
export function listDiff<T>(
  from: readonly T[],
  to: readonly T[],
  isSame: (before: T, value: T) => boolean,
): readonly Step<T>[] {
  const most = Math.min(from.length, to.length)
  let head = 0
  while (head < most && isSame(from[head] as T, to[head] as T)) head++
  let tail = 0
  while (tail < most - head && isSame(from.at(-1 - tail) as T, to.at(-1 - tail) as T)) tail++
  const same = (at: number, other: number): Step<T> => ({ kind: 'same', before: from[at] as T, value: to[other] as T })
  return [
    ...Array.from({ length: head }, (_, i) => same(i, i)),
    ...middleDiff(from.slice(head, from.length - tail), to.slice(head, to.length - tail), isSame),
    ...Array.from({ length: tail }, (_, i) => same(from.length - tail + i, to.length - tail + i)),
  ]
}

function middleDiff<T>(
  from: readonly T[],
  to: readonly T[],
  isSame: (before: T, value: T) => boolean,
): readonly Step<T>[] {
  const found: Step<T>[] = []
  const lengths = from.length * to.length > LIMITS.planDiffCells ? null : sharedLengths(from, to, isSame)
  const common = (i: number, j: number): number => lengths?.[i * (to.length + 1) + j] ?? 0
  let i = 0
  let j = 0
  while (i < from.length || j < to.length) {
    const [before, value] = [from[i] as T, to[j] as T]
    const isCommon = lengths !== null && i < from.length && j < to.length && isSame(before, value)
    if (isCommon && common(i, j) === common(i + 1, j + 1) + 1) {
      found.push({ kind: 'same', before, value })
      i++
      j++
    } else if (i < from.length && (j === to.length || common(i + 1, j) >= common(i, j + 1))) {
      found.push({ kind: 'removed', value: before })
      i++
    } else {
      found.push({ kind: 'added', value })
      j++
    }
  }
  return found
}

/** For each pair of ends, how much they have in common at most, row by row. */
function sharedLengths<T>(
  from: readonly T[],
  to: readonly T[],
  isSame: (before: T, value: T) => boolean,
): readonly number[] {
  const width = to.length + 1
  const lengths = new Array<number>((from.length + 1) * width).fill(0)
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      const [down, across] = [lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number]
      const both = isSame(from[i] as T, to[j] as T) ? (lengths[(i + 1) * width + j + 1] as number) + 1 : 0
      lengths[i * width + j] = Math.max(down, across, both)
    }
  }
  return lengths
}

function isEqual(before: string, value: string): boolean {
  return before === value
}

function isSameStep(before: PlanStep, value: PlanStep): boolean {
  return before.id === value.id || before.title === value.title
}

function stepChange(change: Step<PlanStep>): Change<PlanStep> {
  if (change.kind !== 'same') return change
  const { before, value } = change
  return isUnchanged(before, value) ? { kind: 'same', value } : { kind: 'changed', before, value }
}

function isUnchanged(before: PlanStep, value: PlanStep): boolean {
  const [files, newFiles] = [before.files ?? [], value.files ?? []]
  return (
    before.title === value.title &&
    before.description === value.description &&
    before.complexity === value.complexity &&
    files.length === newFiles.length &&
    files.every((file, index) => file === newFiles[index])
  )
}

function textLines(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split('\n')
}
