import type { Input, Result } from '../../schema/commands/index.ts'
import type { PlanExecution, PlanProposal } from '../../schema/entities/plan.ts'
import type { PlanProjection } from '../../schema/entities/projection.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { isEntityId } from '../../schema/ids.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { Row, StoreReader } from '../log/store.ts'
import { PageRoom } from '../session/page-room.ts'
import { decodeJson } from '../session/record.ts'

type Page = Extract<Result<'plan.query'>, { kind: 'page' }>
type Item = Page['items'][number]
type ItemKind = Item['kind']

/** A session's plan as it is durable now; and again when all that was decided meanwhile is durable too. */
export interface PlanSource {
  readonly sessionId: string
  plan(): PlanProjection
  settled(): Promise<PlanProjection>
}

/** How often a first page is read again because the plan changed meanwhile. */
const ATTEMPTS = 8

/** A page of all proposals, then of all executions, oldest first, as they are together at one `storeVersion`. Source: P12. */
export async function planPage(
  store: StoreReader,
  source: PlanSource,
  input: Input<'plan.query'>,
): Promise<Result<'plan.query'>> {
  const { sessionId } = source
  const after = input.kind === 'list_continue' ? await readCursor(store, sessionId, input.cursor) : null
  let plan = source.plan()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (input.kind === 'list_continue' && plan.storeVersion !== input.storeVersion) {
      return { kind: 'revision_changed', expected: input.storeVersion, actual: plan.storeVersion }
    }
    const { items, nextCursor } = await readItems(store, sessionId, after)
    // Rows are read outside the lane: they are those of this version only if it is still the newest when all that was stored is known.
    const settled = await source.settled()
    if (settled.storeVersion === plan.storeVersion) {
      const { storeVersion, latestProposal, activeExecution } = plan
      const latestProposalId = latestProposal?.proposalId ?? null
      const activeExecutionId = activeExecution?.executionId ?? null
      return { kind: 'page', sessionId, storeVersion, latestProposalId, activeExecutionId, items, nextCursor }
    }
    plan = settled
  }
  throw new HeadwaterError('rate_limited', 'the plan changes faster than it can be read')
}

/** Where a page begins: after this item. */
interface Cursor {
  readonly kind: ItemKind
  readonly id: string
}

async function readItems(
  store: StoreReader,
  sessionId: string,
  after: Cursor | null,
): Promise<Pick<Page, 'items' | 'nextCursor'>> {
  const limit = LIMITS.planPageItems + 1
  const from = (kind: ItemKind): { after?: string } => (after?.kind === kind ? { after: after.id } : {})
  const proposals =
    after?.kind === 'execution' ? [] : await store.rows('proposal', sessionId, { ...from('proposal'), limit })
  const left = limit - proposals.length
  const executions = left === 0 ? [] : await store.rows('execution', sessionId, { ...from('execution'), limit: left })
  const found = [
    ...proposals.map(row => ({ kind: 'proposal' as const, row })),
    ...executions.map(row => ({ kind: 'execution' as const, row })),
  ]
  const room = new PageRoom()
  const fitting = found.slice(0, LIMITS.planPageItems)
  const end = fitting.findIndex(({ row }) => !room.take(row.value.length))
  const page = end < 0 ? fitting : fitting.slice(0, end)
  const last = page.at(-1)
  return {
    items: page.map(({ kind, row }) => itemOf(kind, row)),
    nextCursor: last !== undefined && found.length > page.length ? writeCursor(last.kind, last.row.id) : null,
  }
}

function itemOf(kind: ItemKind, { value }: Row): Item {
  return kind === 'proposal'
    ? { kind, proposal: decodeJson<PlanProposal>(value) }
    : { kind, execution: decodeJson<PlanExecution>(value) }
}

const LETTERS = { proposal: 'p', execution: 'x' } as const

function writeCursor(kind: ItemKind, id: string): string {
  return `${LETTERS[kind]}.${id}`
}

/** The item that a cursor names must be there. */
async function readCursor(store: StoreReader, sessionId: string, cursor: string): Promise<Cursor> {
  const kind = cursor.startsWith('p.') ? 'proposal' : cursor.startsWith('x.') ? 'execution' : null
  const id = cursor.slice(2)
  const isKnown = kind !== null && isEntityId(id) && (await store.row(kind, sessionId, id)) !== undefined
  if (!isKnown) throw new HeadwaterError('invalid_request', 'cursor: is not one of this list', { path: 'cursor' })
  return { kind, id }
}
