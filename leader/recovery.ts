import type { DomainEvent } from '../schema/events.ts'
import { terminalSnapshot } from './domain/evolve/turn.ts'
import { collectTurnFacts, endedRun, type TurnFacts } from './domain/facts.ts'
import { recover } from './domain/recover.ts'
import { hasUnfinishedWork } from './domain/state.ts'
import type { RowWrite } from './log/store.ts'
import { whenStoreSettled } from './session/core/repair.ts'
import { readRecords } from './session/load.ts'
import type { SessionRegistry } from './session/registry.ts'
import { type ActiveRow, settledTurnRow } from './session/rows.ts'
import { isStorageTrouble } from './session/runs/session-run.ts'
import type { SessionLoop } from './session/session-loop.ts'

const PAGE_SESSIONS = 256

/** How often a session is tried to be recovered while the storage fails and is well again. */
const STORAGE_TRIES = 4

/** What recovery did. */
export interface RecoverySummary {
  readonly recovered: number
  readonly quarantined: number
}

/**
 * Brings every session with unfinished work to an end that is true; each is its own unit. Reads only the `active` index, so its work does
 * not depend on the number of sessions. Idempotent: killed anywhere, it ends the same the next time. Source: section X, A7.
 */
export async function recoverSessions(
  sessions: SessionRegistry,
  onProgress: (done: number, total: number) => void,
): Promise<RecoverySummary> {
  const { store, log, clock, metrics } = sessions.env
  const ids: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await store.rows('active', '', { limit: PAGE_SESSIONS, ...(after === undefined ? {} : { after }) })
    ids.push(...page.map(row => row.id))
    after = page.at(-1)?.id
    if (after === undefined || page.length < PAGE_SESSIONS) break
  }
  let recovered = 0
  let quarantined = 0
  const resumes: Resume[] = []
  await endFormerAgents(sessions, ids)
  for (const sessionId of ids) {
    const startMs = clock.monotonicMs()
    try {
      if (await recoverWhenWritable(sessions, sessionId, resumes)) recovered += 1
      else quarantined += 1
    } catch (error) {
      quarantined += 1
      log.error({ session_id: sessionId, err: error }, 'a session could not be recovered')
      if (!sessions.isDamaged(sessionId)) sessions.quarantine(sessionId, 'it could not be recovered')
    }
    metrics.recoveryTook((clock.monotonicMs() - startMs) / 1000)
    onProgress(recovered + quarantined, ids.length)
  }
  // Only now: a crash while others recover must not cost a turn that could still begin.
  for (const { sessionId, turnId } of resumes) await sessions.using(sessionId, loop => resume(loop, turnId))
  return { recovered, quarantined }
}

/** A turn that begins again. Source: X3. */
interface Resume {
  readonly sessionId: string
  readonly turnId: string
}

/**
 * Ends what is left of the agents of unfinished runs, all at once, before their sessions are settled: a leader that dies meanwhile leaves
 * the sessions to be looked at again. Source: X13, X15.
 */
async function endFormerAgents(sessions: SessionRegistry, ids: readonly string[]): Promise<void> {
  const { endProcess } = sessions.env
  if (endProcess === undefined) return
  const endings: Promise<unknown>[] = []
  for (const sessionId of ids) {
    // A session that cannot be loaded is found damaged when its turn comes.
    const former = await sessions.using(sessionId, async loop => loop.runs.formerProcess).catch(() => null)
    if (former !== null) endings.push(endProcess(former))
  }
  await Promise.allSettled(endings)
}

/** What the storage does not take is no damage of the session: it is tried again when the storage is well. Source: E7, E8, A9. */
async function recoverWhenWritable(sessions: SessionRegistry, sessionId: string, resumes: Resume[]): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await recoverSession(sessions, sessionId, resumes)
    } catch (error) {
      if (!isStorageTrouble(error) || tries === STORAGE_TRIES) throw error
      await whenStoreSettled(sessions.env.store, { writable: true })
    }
  }
}

/** True when the session is well afterwards. */
function recoverSession(sessions: SessionRegistry, sessionId: string, resumes: Resume[]): Promise<boolean> {
  return sessions.using(sessionId, loop => recoverLoaded(sessions, loop, resumes))
}

/** Ends what a session has left unfinished, and resumes nothing: it was cut back, and the turn may have run further. Source: D2. */
export async function settleSession(sessions: SessionRegistry, sessionId: string): Promise<void> {
  await sessions.using(sessionId, loop => recoverLoaded(sessions, loop, null))
}

/** Without `resumes` no turn begins again. */
async function recoverLoaded(sessions: SessionRegistry, loop: SessionLoop, resumes: Resume[] | null): Promise<boolean> {
  const { env } = sessions
  const { core, sessionId } = loop
  if (core.state.revision === 0) return true
  const active = core.active ?? { since: 1, previousRootTurnId: null }
  const records = await readRecords(env.store, sessionId, active.since - 1)
  const turns = collectTurnFacts(sessionId, records).filter(facts => isOfInterest(facts, active))
  const decided = recover({
    state: core.state,
    turns,
    previousRootTurnId: active.previousRootTurnId,
    context: { at: env.clock.now(), openBlocks: core.openBlocks },
    mayResume: resumes !== null,
  })
  if (decided.kind === 'quarantine') {
    sessions.quarantine(sessionId, decided.reason)
    return false
  }
  env.crash('mid_recovery')
  if (decided.events.length > 0) {
    await loop.applyRecovery(decided.events, olderTurnRows(loop, turns, decided.events))
  } else if (decided.resume === null && !hasUnfinishedWork(core.state)) {
    // Nothing is unfinished after all: the next start need not look at it again.
    await loop.applyRecovery([], [{ kind: 'active', id: sessionId, value: null }])
  }
  env.crash('mid_recovery')
  for (const recoveryCase of decided.cases) env.metrics.recovered(recoveryCase)
  core.rebase()
  if (decided.resume !== null) resumes?.push({ sessionId, turnId: decided.resume })
  return true
}

/** A root turn that ended before the oldest unfinished one may have late facts in the same records; they are settled. */
function isOfInterest(facts: TurnFacts, active: ActiveRow): boolean {
  return facts.admission !== null || facts.turnId !== active.previousRootTurnId
}

/** Rows of turns that recovery settled although a newer one exists: the fold does not keep them. */
function olderTurnRows(loop: SessionLoop, turns: readonly TurnFacts[], events: readonly DomainEvent[]): RowWrite[] {
  const newest = loop.core.state.root?.admission.turnId
  const rows: RowWrite[] = []
  for (const facts of turns) {
    if (facts.turnId === newest || facts.admission === null || facts.settledBy !== null) continue
    const records = [
      {
        revision: loop.core.state.revision + 1,
        epochNumber: 0,
        at: loop.core.env.clock.now(),
        actor: 'leader' as const,
        events: events as never,
        prevHash: '',
        hash: '',
      },
    ]
    const now = collectTurnFacts(loop.sessionId, records).find(f => f.turnId === facts.turnId)
    const merged = { ...facts, terminalEvents: [...facts.terminalEvents, ...(now?.terminalEvents ?? [])] }
    const runs = [...facts.runs, ...(now?.runs ?? [])].map(run => endedRun(run, merged))
    const run = runs.find(r => r.runId === facts.admission?.runId)
    if (run?.terminalEventId === undefined) continue
    const { turnId, runId } = facts.admission
    rows.push(settledTurnRow(facts, terminalSnapshot({ sessionId: loop.sessionId, turnId, runId }, run), runs))
  }
  return rows
}

/** The admitted turn runs under the run id it was admitted with; recovery waits until its run is durable. Source: X3. */
function resume(loop: SessionLoop, turnId: string): Promise<void> {
  return new Promise(resolve => {
    loop.runs.startTurn(turnId)
    loop.waits.add({ turnId, until: 'started', call: () => resolve() })
    loop.turnMoved()
  })
}
