import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOffline } from '../../replica/index.ts'
import { isLive, reading, storeOf, talked } from '../support/react/screen-store.ts'
import { startTestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

test('V6 O3 experience 5.3 a root that was put back shows what it has, and beside it what was seen here before', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  await leader.close()
  const [database, copy] = [join(leader.root, 'database'), join(leader.root, '..', 'copy')]
  cpSync(database, copy, { recursive: true })
  await leader.start()
  await leader.startTurn('one', 'newer', 'newer')
  await leader.ended('one', 'newer')
  const before = storeOf(leader.root)
  const seen = before.session('one')
  reading(seen)
  await waitFor(() => isLive(seen))
  const shown = seen.getSnapshot().projection ?? expect.fail('nothing was shown')
  await before.close()
  await leader.close()
  rmSync(database, { recursive: true })
  cpSync(copy, database, { recursive: true })
  await leader.start()

  // A replica that starts now knows of it from its copy alone.
  for (let start = 1; start <= 2; start++) {
    const store = storeOf(leader.root)
    const one = store.session('one')
    reading(one)
    await waitFor(() => isLive(one) && one.getSnapshot().aside !== null)
    const { projection, aside } = one.getSnapshot()
    expect(projection?.rootTurn?.turnId).toBe('one-turn')
    expect(aside).toEqual({ projection: shown, since: expect.any(Number) })
    await store.close()
  }
  const reader = await openOffline({ root: leader.root })
  expect(await reader.session('one')).toMatchObject({ rootTurn: { turnId: 'one-turn' } })
  expect(await reader.aside('one')).toMatchObject({ rootTurn: { turnId: 'newer' }, freshness: { state: 'offline' } })
})
