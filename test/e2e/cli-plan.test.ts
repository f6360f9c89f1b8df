import { expect, test } from 'vitest'
import { openStore, resolveRoot, tryAcquireRootOwner } from '../../leader/index.ts'
import { served } from '../support/cli/served.ts'
import { PLANNED, planOf, plantPlans } from '../support/planted-plans.ts'

/** A served root with a session that proposed a plan twice. */
async function planned() {
  const { leader, root, start, cli, json } = await served()
  await leader.stop()
  const owner = await tryAcquireRootOwner(await resolveRoot({ path: root }))
  if (owner === undefined) throw new Error('the root is owned')
  const store = await openStore(owner)
  const revised = { ...planOf('Fix it', 'a', 'b'), overview: 'In two steps.', risks: ['It may not help.'] }
  await plantPlans(store, [planOf('Fix', 'a'), revised])
  await store.close()
  await owner.close()
  await start()
  return { cli, json, start }
}

test('P10 P4 P7 the command line shows a plan, approves the revision that was read, resumes and cancels', async () => {
  const { cli, json } = await planned()
  const shown = await cli(['plan', PLANNED])
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^title\tFix it\nproposal\tproposal-0{11}2-/) })
  expect(shown.stdout).toContain('\nstatus\twaits for approval\nrevision\t2\ndigest\tsha256:')
  expect(shown.stdout).toMatch(/\n\nIn two steps\.\n\n1\. Step a\n2\. Step b\n\nRisks:\n- It may not help\.\n$/)
  expect((await json('plan', PLANNED, 'show')).result).toMatchObject({
    storeVersion: 2,
    latestProposal: { revision: 2 },
  })

  expect(await cli(['plan', PLANNED, 'approve'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--revision 2'),
  })
  const stale = await cli(['plan', PLANNED, 'approve', '--revision', '1'])
  expect(stale).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('at revision 2, not 1') })
  expect(await json('plan', PLANNED, 'approve', '--revision', '1')).toMatchObject({
    ok: false,
    error: { code: 'operation_conflict', detail: { revision: 2, storeVersion: 2 } },
  })
  const approved = await cli(['plan', PLANNED, 'approve', '--revision', '2'])
  expect(approved.code).toBe(0)
  const [executionId = '', turnId = ''] = approved.stdout.trim().split('\t')
  await cli(['wait', PLANNED, '--for', `turn:${turnId}`])
  expect((await cli(['session', 'show', PLANNED])).stdout).toMatch(
    /# Plan proposed: Fix it \(revision 2\)\n\n# Plan approved: Fix it \(revision 2\) \(from [a-z ]+\)\n\n› Carry out the approved plan: Fix it\n/,
  )
  expect((await cli(['plan', PLANNED])).stdout).toMatch(
    /status\tbeing carried out\nrevision\t2\n.*\n\n1\. \[ \] Step a\n2\. \[ \] Step b\n$/,
  )
  expect(await cli(['plan', PLANNED, 'resume'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('being carried out'),
  })

  const { turnId: held } = (await json('send', PLANNED, '/hold')).result
  await cli(['interrupt', PLANNED])
  await cli(['wait', PLANNED, '--for', `turn:${held}`])
  expect((await cli(['plan', PLANNED])).stdout).toContain('status\tinterrupted: its turn was cancelled\n')
  const resumed = await json('plan', PLANNED, 'resume')
  expect(resumed.result).toMatchObject({
    plan: { eventType: 'plan_execution_resumed', executionId },
    turn: { sessionId: PLANNED },
  })
  await cli(['wait', PLANNED, '--for', 'idle'])
  await json('send', PLANNED, '/hold')
  await cli(['interrupt', PLANNED])
  expect((await json('plan', PLANNED, 'cancel')).result).toMatchObject({
    eventType: 'plan_execution_cancelled',
    executionId,
  })
  expect((await cli(['plan', PLANNED])).stdout).toContain('status\tgiven up\n')
})

test('P2 P3 the command line asks for changes and drops a plan', async () => {
  const { cli, json } = await planned()
  expect((await cli(['plan', PLANNED, 'revise'])).code).toBe(2)
  expect((await json('plan', PLANNED, 'revise', 'Leave', 'the', 'tests')).result).toMatchObject({
    eventType: 'plan_revision_requested',
    storeVersion: 3,
  })
  const shown = await cli(['plan', PLANNED])
  expect(shown.stdout).toContain('status\tchanges were asked for\nrevision\t2\n')
  expect(shown.stdout).toContain('feedback\tLeave the tests\n')
  expect(await cli(['plan', PLANNED, 'abandon'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('No plan waits for approval; the latest: changes were asked for.'),
  })
  expect(await cli(['plan', PLANNED, 'aprove'])).toMatchObject({ code: 2, stderr: expect.stringContaining('approve') })
  expect((await cli(['plan', 'nobody'])).code).toBe(3)
  const other = await planned()
  expect(await other.cli(['plan', PLANNED, 'abandon'])).toMatchObject({ code: 0, stdout: '' })
  expect((await other.json('plan', PLANNED)).result).toMatchObject({
    storeVersion: 3,
    latestProposal: { status: 'stale' },
  })
})
