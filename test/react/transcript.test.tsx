import { Text } from 'ink'
import { expect, onTestFinished, test } from 'vitest'
import { LeaderProvider, useTranscript } from '../../replica/react/index.ts'
import type { ReplicaStore, TranscriptView } from '../../replica/react/types.ts'
import { HandBackend } from '../support/hand-backend.ts'
import { renderStrict } from '../support/react/rendered.tsx'
import { isLive, reading, storeOf } from '../support/react/screen-store.ts'
import { startTestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

type Shown = TranscriptView & { readonly loadEarlier: () => Promise<void> }

function Probed({ into }: { readonly into: Shown[] }) {
  into.push(useTranscript('one'))
  return <Text>.</Text>
}

async function shown(store: ReplicaStore): Promise<Shown[]> {
  const values: Shown[] = []
  await renderStrict(
    <LeaderProvider store={store}>
      <Probed into={values} />
    </LeaderProvider>,
  )
  return values
}

/** A session whose run says notices as told. */
async function longTalk() {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('one', hand.kind)
  await leader.startTurn('one', 'long', 'talk')
  const { context } = await hand.run('long')
  let said = 0
  const say = async (count: number, more = ''): Promise<void> => {
    for (let i = 0; i < count; i++) {
      said += 1
      await context.notice(`notice ${said}${more}`)
    }
  }
  return { leader, context, say }
}

/** What is wrong with the numbers of the entries: each must follow on to the one before. */
function breaks({ entries }: Pick<TranscriptView, 'entries'>): readonly number[] {
  return entries.flatMap((entry, i) => (i > 0 && entry.seq !== (entries[i - 1]?.seq ?? 0) + 1 ? [entry.seq] : []))
}

test('experience 10.2 older pages and the live part are one transcript without gaps or doubles, also while it moves on', async () => {
  const { leader, say } = await longTalk()
  await say(150)
  const store = storeOf(leader.root)
  const values = await shown(store)
  const first = await waitFor(() => (values.at(-1)?.entries.length ? values.at(-1) : null))
  expect(first.hasMore).toBe(true)
  const { firstSeq } = store.session('one').getSnapshot().projection?.transcript ?? expect.fail('nothing is shown')
  expect(firstSeq).toBeGreaterThan(1)
  await first.loadEarlier()
  const whole = await waitFor(() => (values.at(-1)?.hasMore === false ? values.at(-1) : null))
  expect(whole.entries[0]?.seq).toBe(1)
  // Enough for the live part to be cut twice.
  await say(150)
  const { projection } = await waitFor(() => {
    const view = store.session('one').getSnapshot()
    return (view.projection?.transcript.firstSeq ?? 0) > firstSeq + 64 ? view : null
  })
  const { entries } = await waitFor(() => {
    const last = values.at(-1)
    return last?.entries.at(-1)?.seq === projection?.transcript.lastSeq ? last : null
  })
  for (const value of values) expect(breaks(value)).toEqual([])
  // What left the live part while it was shown is read again: the same as the leader has.
  await waitFor(async () => {
    const told: unknown[] = []
    for (let before = entries.length + 1; before > 1; before -= 200) {
      const page = await leader.ok('transcript.page', { sessionId: 'one', before, limit: 200 })
      told.unshift(...page.entries)
    }
    const older = store.history('one').getSnapshot().entries
    expect(older.length).toBeGreaterThan(100)
    expect(older).toEqual(told.slice(0, older.length))
    return true
  })
})

test('experience 10.2 what leaves the live part stays in a transcript that was not loaded back, and more can be loaded', async () => {
  const { leader, say } = await longTalk()
  await say(100)
  const store = storeOf(leader.root)
  const values = await shown(store)
  await waitFor(() => (values.at(-1)?.entries.length ?? 0) > 90)
  const start = values.at(-1)?.entries[0]?.seq
  await say(60)
  await waitFor(() => (store.session('one').getSnapshot().projection?.transcript.firstSeq ?? 1) > 60)
  await waitFor(() => (values.at(-1)?.entries.length ?? 0) > 150)
  expect(values.at(-1)?.entries[0]?.seq).toBe(start)
  for (const value of values) expect(breaks(value)).toEqual([])
})

test('experience 10.2 what changed in the transition that took it out of the live part is shown as it became', async () => {
  const { leader, context, say } = await longTalk()
  await context.toolStart({ toolCallId: 'call', name: 'read', title: 'Read', status: 'in_progress', input: '{}' })
  await say(58, 'x'.repeat(4_096))
  const store = storeOf(leader.root)
  const values = await shown(store)
  const call = () => values.at(-1)?.entries.find(entry => entry.kind === 'tool')
  await waitFor(() => call()?.status === 'in_progress' && isLive(store.session('one')))
  expect(store.session('one').getSnapshot().projection?.transcript.firstSeq).toBe(1)
  await context.toolEnd({ toolCallId: 'call', status: 'completed', output: 'y'.repeat(30_000) })
  await waitFor(() => (store.session('one').getSnapshot().projection?.transcript.firstSeq ?? 1) > 10)
  const ended = await waitFor(() => (call()?.status === 'completed' ? call() : null))
  expect(ended).toMatchObject({ seq: 2, output: 'y'.repeat(30_000) })
  for (const value of values) expect(breaks(value)).toEqual([])
})

test('experience 5.3 history is read from copies without a leader, as far as it was read, and says where it ends', async () => {
  const { leader, say } = await longTalk()
  await say(290)
  const before = storeOf(leader.root)
  const one = before.session('one')
  reading(one)
  await waitFor(() => isLive(one))
  const { firstSeq } = one.getSnapshot().projection?.transcript ?? expect.fail('nothing is shown')
  const near = await before.connection?.transcript('one', { before: firstSeq, limit: 30 })
  await before.close()
  await leader.close()

  const store = storeOf(leader.root)
  const values = await shown(store)
  const first = await waitFor(() => (values.at(-1)?.entries.length ? values.at(-1) : null))
  expect(first.hasMore).toBe(true)
  await first.loadEarlier()
  const loaded = await waitFor(() =>
    values.at(-1)?.entries.length === first.entries.length + 30 ? values.at(-1) : null,
  )
  expect(loaded.entries.slice(0, 30)).toEqual(near?.entries)
  expect(loaded).toMatchObject({ hasMore: true, failure: null })
  await loaded.loadEarlier()
  const ended = await waitFor(() => (values.at(-1)?.failure ? values.at(-1) : null))
  expect(ended).toMatchObject({ isLoading: false, hasMore: true, failure: { code: 'offline' } })
  expect(ended.entries).toEqual(loaded.entries)

  // A leader that comes reads on from there.
  await leader.start()
  store.retryNow()
  await waitFor(() => isLive(store.session('one')))
  await values.at(-1)?.loadEarlier()
  await waitFor(() => values.at(-1)?.entries[0]?.seq === 1 && values.at(-1)?.failure === null)
  for (const value of values) expect(breaks(value)).toEqual([])
  onTestFinished(() => store.close())
})
