import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { CommandContext } from '../../replica/cli/context.ts'
import { exportLines } from '../../replica/cli/exchange/export-lines.ts'
import { exportMarkdown } from '../../replica/cli/exchange/markdown/export-markdown.ts'
import { closed, code, fenced, folded, inline } from '../../replica/cli/exchange/markdown/markdown-text.ts'
import { writingTo } from '../../replica/cli/exchange/sink.ts'
import { createOutput } from '../../replica/cli/output/output.ts'
import { abortWords, endWords, failureWords, parkWords, sessionWords } from '../../replica/view/words.ts'
import { AbortSource } from '../../schema/entities/turn.ts'
import { markdownOf, sourceOf } from '../support/exchange.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const S = 's'
const EVIL = 'x\u001b[2J\u009b31m\u202ey'

test('L2 Z6 each kind of entry has its form, and nothing in it changes what stands around it', async () => {
  const world = await SessionWorld.inMemory()
  await world.ok('session.create', { sessionId: S, title: 'A *title*', cwd: '/srv', backend: 'scripted' })
  const content = {
    text: 'Look\n```\nat this',
    quotes: [{ text: 'quoted', label: 'from there' }],
    attachments: [{ kind: 'file' as const, name: 'a`b.txt', mimeType: 'text/plain', bytes: 3, ref: { path: '/a' } }],
  }
  await world.ok('turn.start', { sessionId: S, turnId: 't1', content })
  const run = world.runs.of('t1')
  await world.during(run.port.appendText('thinking', 'm0', 'Hm </details> hm'))
  const call = { toolCallId: 'c', name: 'edit', title: 'Edit [a]', status: 'in_progress' as const, input: 'a\n```\nb' }
  await world.during(run.port.apply({ kind: 'tool_start', ...call }))
  await world.during(run.port.apply({ kind: 'tool_end', toolCallId: 'c', status: 'completed', output: '````\n' }))
  const options = [
    { optionId: 'o1', label: 'Yes', kind: 'allow_once' as const },
    { optionId: 'o2', label: 'No', kind: 'reject_once' as const },
  ]
  const asked = await run.port.openInteraction({
    kind: 'permission',
    toolCallId: 'c',
    toolKind: 'edit',
    title: 'May I?',
    options,
  })
  const { interactionId } = asked
  await world.ok('interaction.answer', { interactionId, answer: { kind: 'permission', optionId: 'o1' } })
  await world.during(run.port.apply({ kind: 'notice', text: 'Careful' }))
  const steps = [
    { id: 'a', title: 'First', description: 'Do it.' },
    { id: 'b', title: 'Then', description: '' },
  ]
  await world.during(run.port.submitPlan({ title: 'Two steps', steps }))
  await world.during(run.text('The answer:\n```js\nleft open', 'm1'))
  await world.during(run.end({ kind: 'failed', failureClass: 'network', failureMessage: 'no *route*' }))
  await settle()
  const text = await markdownOf(world.store, S)
  expect(text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, 'WHEN')).toMatchInlineSnapshot(`
    "# A \\*title\\*

    - Session: \`s\`
    - Created: WHEN
    - Last active: WHEN
    - Directory: \`/srv\`
    - Backend: \`scripted\`

    ## Turn 1 — WHEN

    **User (test):**

    > Look
    > \`\`\`
    > at this

    > **from there**
    >
    > quoted

    - file \`\` a\`b.txt \`\` (text/plain, 3 B)

    <details>
    <summary>Thinking</summary>

    Hm &lt;/details> hm

    </details>

    **Tool** \`edit\`: Edit \\[a\\] — completed

    Input:

    \`\`\`\`
    a
    \`\`\`
    b
    \`\`\`\`

    Output:

    \`\`\`\`\`
    \`\`\`\`
    \`\`\`\`\`

    **Permission**

    - edit: May I?
    - \\[1\\] Yes
    - \\[2\\] No

    answered by test: Yes

    > **Notice:** Careful

    **Plan:** Plan proposed: Two steps (revision 1)

    1. First  
       Do it.
    2. Then

    The answer:
    \`\`\`js
    left open
    \`\`\`

    *Turn failed: the network failed: no \\*route\\*.*
    "
  `)
})

test('D5 Z6 in a terminal neither form of an export moves anything; in a file what was said stands as it was', async () => {
  const world = await SessionWorld.inMemory()
  await world.create(S)
  const run = await world.start(S, 't1')
  await world.during(run.text(EVIL))
  await world.during(run.end())
  const write = async (isTTY: boolean, format: 'md' | 'jsonl'): Promise<string> => {
    let written = ''
    const stream = Object.assign(new EventEmitter(), {
      isTTY,
      write: (text: string) => {
        written += text
        return true
      },
    })
    const out = createOutput(stream)
    const context = { out, signal: new AbortController().signal } as unknown as CommandContext
    const quiet = { withArtifacts: true, exportedAt: 0, onProgress: () => {}, onMissing: () => {} }
    await writingTo<object>(context, undefined, sink => {
      const source = sourceOf(world.store, S)
      return format === 'md' ? exportMarkdown(source, sink) : exportLines(source, sink, quiet)
    })
    return written
  }
  const inert = /^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*$/
  expect(await write(true, 'md')).toMatch(inert)
  expect(await write(true, 'jsonl')).toMatch(inert)
  expect(await write(false, 'md')).toContain(EVIL)
  const lines = (await write(true, 'jsonl')).trimEnd().split('\n')
  expect(JSON.stringify(lines.map(line => JSON.parse(line)))).toContain(JSON.stringify(EVIL).slice(1, -1))
})

test('L2 a fence is longer than any in it, a name means itself, and what begins also ends', () => {
  expect(fenced('a')).toBe('```\na\n```')
  expect(fenced('a\n`````\n', 'js')).toBe('``````js\na\n`````\n``````')
  expect([code('a`b``c'), code('x')]).toEqual(['``` a`b``c ```', '`x`'])
  expect(inline(' a\n*b* <i> [c](d) ')).toBe('a \\*b\\* \\<i\\> \\[c\\](d)')
  expect(closed('~~~\n```\nx')).toBe('~~~\n```\nx\n~~~')
  expect(closed('```js\nx\n```\ny')).toBe('```js\nx\n```\ny')
  expect(folded('S', 'a</DETAILS>\n<summary>b')).toBe(
    '<details>\n<summary>S</summary>\n\na&lt;/DETAILS>\n&lt;summary>b\n\n</details>',
  )
})

test('T11 X1 Q9 every stored word has words for people, and one that nobody knows is shown as it is', () => {
  const classes = ['app_restarted', 'backend_error', 'backend_exited', 'network', 'auth', 'rate_limit', 'timeout']
  for (const word of [...classes, 'step_cap_reached', 'storage']) expect(failureWords(word)).not.toMatch(/_|^$/)
  for (const word of ['user_stop', 'leader_shutdown', 'parent_stopped', 'parent_deleted', 'unknown']) {
    expect(abortWords(AbortSource.parse(word))).not.toBe(word.replaceAll('_', ' '))
  }
  expect([failureWords('toString'), failureWords('out_of_luck'), abortWords('__proto__')]).toEqual([
    'toString',
    'out of luck',
    '  proto  ',
  ])
  expect([parkWords('leader_restarted'), sessionWords('waiting_for_user')]).toEqual([
    'the leader ended and started again',
    'waits for an answer',
  ])
  expect(endWords({ failureClass: 'network', failureMessage: 'no route' })).toBe('the network failed: no route')
  expect(endWords({ abortSource: 'user_stop' })).toBe('somebody stopped it')
})
