import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { LIMITS } from '../../schema/limits.ts'
import { openAcpStage } from '../support/acp-stage.ts'
import { waitFor } from '../support/wait-for.ts'

test('T11 an agent streams its answer; process, session and usage are recorded', async () => {
  const port = await openAcpStage().finish('stream 200')
  expect(port.ends).toEqual([{ kind: 'completed' }])
  expect(port.textOf('assistant')).toBe(Array.from({ length: 200 }, (_, i) => `${i} `).join(''))
  expect(new Set(port.effects.flatMap(effect => (effect.kind === 'text' ? [effect.messageId] : []))).size).toBe(1)
  expect(port.commands('process')[0]?.process).toMatchObject({ bootId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  expect(port.commands('agent_session')[0]?.agentSessionId).toMatch(/^ses_/)
  expect(port.commands('usage')).toEqual([
    { kind: 'usage', usage: { inputTokens: 3, outputTokens: 200, totalTokens: 203 } },
  ])
})

test('L2 thoughts, tool calls with their changes, and plans arrive in order; a call makes a new message', async () => {
  const of = openAcpStage()
  const [think, tool, plan] = [await of.finish('think'), await of.finish('tool'), await of.finish('plan')]
  expect([think.textOf('thinking'), think.textOf('assistant')]).toEqual(['hm', 'thought'])
  const told = tool.effects.filter(effect => effect.kind !== 'process' && effect.kind !== 'tool_update')
  expect(told).toEqual([
    { kind: 'text', block: 'assistant', messageId: expect.any(String), text: 'before' },
    {
      kind: 'tool_start',
      toolCallId: 'call_1',
      name: 'edit',
      title: 'Edit',
      status: 'pending',
      input: JSON.stringify({ path: 'a.txt' }, null, 2),
    },
    {
      kind: 'tool_end',
      toolCallId: 'call_1',
      status: 'completed',
      output: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three',
    },
    { kind: 'text', block: 'assistant', messageId: expect.any(String), text: 'after' },
  ])
  expect(tool.commands('tool_update')[0]).toMatchObject({ title: 'Edit a.txt', status: 'in_progress' })
  const ids = tool.effects.flatMap(effect => (effect.kind === 'text' ? [effect.messageId] : []))
  expect(new Set(ids).size).toBe(2)
  expect(plan.commands('agent_plan')[0]?.entries).toEqual([
    { content: 'first', priority: 'high', status: 'in_progress' },
  ])
  expect(plan.commands('usage')[0]?.usage).toEqual({ contextUsed: 10, contextSize: 100 })
})

test('I1 I7 a permission request becomes an interaction with the agent’s options, and its answer goes back', async () => {
  const { port, handle } = openAcpStage().run('ask')
  const pending = await waitFor(() => port.pending[0])
  expect(pending.request).toEqual({
    kind: 'permission',
    toolCallId: 'call_2',
    title: 'Delete b.txt',
    toolKind: 'delete',
    options: [
      { optionId: 'yes', label: 'Yes', kind: 'allow_once' },
      { optionId: 'always', label: 'Always', kind: 'allow_always' },
      { optionId: 'no', label: 'No', kind: 'reject_once' },
    ],
  })
  port.answer({ kind: 'permission', optionId: 'no' })
  await handle.done
  expect([port.textOf('assistant'), port.ends]).toEqual(['selected no', [{ kind: 'completed' }]])
})

test('I1 an elicitation form becomes an interaction, and its values go back', async () => {
  const { port, handle } = openAcpStage().run('form')
  const pending = await waitFor(() => port.pending[0])
  expect(pending.request).toMatchObject({ kind: 'form', message: 'Who are you?', schema: { required: ['name'] } })
  port.answer({ kind: 'form', values: { name: 'Ada', odd: { nested: true } } })
  await handle.done
  expect(JSON.parse(port.textOf('assistant'))).toEqual({ action: 'accept', content: { name: 'Ada' } })
})

test('C1 quotes go as text, files as links, and what only the leader holds is laid down as a file', async () => {
  const of = openAcpStage()
  const path = join(of.cwd, 'on disk.txt')
  writeFileSync(path, 'from the disk')
  const { hash } = await of.artifacts.put(Buffer.from('from the leader'), 'text/plain')
  const file = { kind: 'file', mimeType: 'text/plain', bytes: 15 } as const
  const attachments = [
    { ...file, name: 'on disk.txt', ref: { path } },
    { ...file, name: '../up/pasted.txt', ref: { artifact: hash } },
    { ...file, name: 'gone.txt', ref: { artifact: `sha256:${'0'.repeat(64)}` } },
  ]
  const read = await of.finish({ text: 'read', content: { attachments: attachments.slice(0, 2) } })
  expect(read.textOf('assistant')).toBe('on disk.txt: from the disk../up/pasted.txt: from the leader')
  const quotes = [{ text: 'one\ntwo', label: 'Notes' }]
  const echo = await of.finish({
    text: 'look',
    content: { quotes, attachments: [attachments[0], attachments[2]] as never },
  })
  expect(echo.textOf('assistant')).toBe(
    `Notes:\n> one\n> twolook${JSON.stringify({
      mimeType: 'text/plain',
      name: 'on disk.txt',
      size: 15,
      uri: pathToFileURL(path).href,
      type: 'resource_link',
    })}[The attachment gone.txt is not available.]`,
  )
})

test('T11 malformed output of an agent is passed over', async () => {
  const port = await openAcpStage().finish('garbage')
  expect([port.textOf('assistant'), port.ends]).toEqual(['still here', [{ kind: 'completed' }]])
})

test.each([
  ['stop refusal', { kind: 'completed' }, 'The agent refused to go on.'],
  ['stop max_tokens', { kind: 'completed' }, 'The agent reached its limit of tokens and stopped here.'],
  ['stop of_the_future', { kind: 'completed' }, 'The agent stopped for a reason that is not known here.'],
  ['stop max_turn_requests', { kind: 'failed', failureClass: 'step_cap_reached' }, undefined],
  ['stop cancelled', { kind: 'failed', failureClass: 'backend_error' }, undefined],
  ['fail', { kind: 'failed', failureMessage: 'The agent failed: Internal error (the model is gone)' }, undefined],
  ['login', { kind: 'failed', failureClass: 'auth' }, undefined],
])('T11 an agent that ends with %j', async (text, end, notice) => {
  const port = await openAcpStage().finish(text)
  expect([port.ends, port.commands('notice')[0]?.text]).toMatchObject([[end], notice])
})

test('T11 a session that needs a login fails as auth and says how to log in', async () => {
  const port = await openAcpStage('auth').finish('x')
  const [end] = port.ends
  expect(end).toMatchObject({ kind: 'failed', failureClass: 'auth' })
  expect(end?.kind === 'failed' && end.failureMessage).toContain('Log in: Run `test-agent login`')
})

test('T1 a turn with maxSteps is cancelled when the agent starts one tool call more', async () => {
  const of = openAcpStage()
  const within = await of.finish({ text: 'tools 3', maxSteps: 3 })
  const over = await of.finish({ text: 'tools 4', maxSteps: 3 })
  expect([within.ends, over.ends]).toMatchObject([
    [{ kind: 'completed' }],
    [{ kind: 'failed', failureClass: 'step_cap_reached' }],
  ])
})

test('S1 the session’s model is chosen where the agent offers it, and missed aloud where it does not', async () => {
  const of = openAcpStage('models')
  const chosen = await of.finish({ text: 'model', header: { model: 'model-b' } })
  const missed = await of.finish({ text: 'model', header: { model: 'model-z' } })
  expect([chosen.textOf('assistant'), chosen.commands('notice')]).toEqual(['model-b', []])
  expect(missed.commands('notice')[0]?.text).toContain('does not offer the model model-z')
})

test('C1 attachment files of an agent go with it', async () => {
  const of = openAcpStage()
  const { hash } = await of.artifacts.put(Buffer.from('x'), 'text/plain')
  const attachment = { kind: 'file', name: 'a.txt', mimeType: 'text/plain', bytes: 1, ref: { artifact: hash } } as const
  const port = await of.finish({ text: 'echo', content: { attachments: [attachment] } })
  const link = JSON.parse(port.textOf('assistant').slice('echo'.length)) as { uri: string }
  const path = fileURLToPath(link.uri)
  expect(existsSync(path)).toBe(true)
  await of.close()
  expect(existsSync(path)).toBe(false)
})

test('A7 an agent that sends faster than its output can be stored is held up, and nothing of it is lost', async () => {
  const count = 20_000
  const { port, handle } = openAcpStage().run(`stream ${count}`)
  await waitFor(() => port.textOf('assistant') !== '')
  port.stall()
  const atStall = port.effects.length
  await delay(500)
  expect(port.effects.length - atStall).toBeLessThanOrEqual(LIMITS.agentUpdatesQueued + 1)
  port.release()
  await handle.done
  expect(port.textOf('assistant')).toBe(Array.from({ length: count }, (_, i) => `${i} `).join(''))
  expect(port.ends).toEqual([{ kind: 'completed' }])
})
