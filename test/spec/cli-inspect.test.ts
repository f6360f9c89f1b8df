import { describe, expect, test } from 'vitest'
import { LIMITS } from '../../schema/limits.ts'
import { callCli } from '../support/cli/call-cli.ts'
import { FakeLeader } from '../support/cli/fake-leader.ts'

const QUESTION = { kind: 'question' as const, questions: [{ question: 'Colour?', options: [{ label: 'red' }] }] }

/** A session with a turn in which something was asked and answered. The clock of the fake leader goes 1 ms a record. */
function asked(): FakeLeader {
  const leader = new FakeLeader()
  const session = leader.addSession('s1', { title: 'First' })
  session.start('turn-1', 'hello\u001b[2J')
  session.say('some words')
  session.ask('ask-1', QUESTION)
  const answer = { kind: 'question' as const, answers: [{ labels: ['red'] }] }
  const by = { surface: 'tui', clientInstanceId: 'ada-at-home' }
  session.answer('ask-1', { kind: 'answer', answer, by, at: 1 })
  session.complete()
  return leader
}

const lines = (text: string): readonly string[] => text.split('\n').slice(0, -1)

describe('experience 9.1 headwater inspect', () => {
  test('experience 9.1 one row a record, the newest last, with who, what and how long it took', async () => {
    const { stdout, stderr, code } = await callCli(['inspect', 's1'], { leader: asked() })
    expect(lines(stdout).map(line => line.split('\t').toSpliced(1, 1))).toEqual([
      ['1', '', 'the run', 'session made for scripted in /somewhere', ''],
      ['2', 'turn-1', 'the run', 'run started · message: hello', '+1 ms'],
      ['3', 'turn-1', 'the run', 'text: some words', expect.stringContaining('first text after')],
      ['4', 'turn-1', 'the run', 'asked: Colour?', '+1 ms'],
      ['5', 'turn-1', 'the run', 'answered by a terminal', 'answered after 1 ms'],
      ['6', 'turn-1', 'the run', 'run completed', '+1 ms'],
    ])
    expect(stderr).toContain('answered after\t1\t1 ms\t1 ms\t1 ms\n')
    expect(code).toBe(0)
  })

  test('experience 9.1 in a terminal it stands in columns that fit', async () => {
    const { stdout } = await callCli(['inspect', 's1'], { leader: asked(), isTerminal: true })
    expect(lines(stdout)[0]).toMatch(/^REV +AT +WHO +WHAT +TOOK$/)
    expect(lines(stdout).every(line => line.length <= 80)).toBe(true)
    expect(lines(stdout)).toHaveLength(7)
    expect(stdout).not.toContain('\u001b')
  })

  test('experience 9.1 the newest of them, and those of one kind', async () => {
    const newest = await callCli(['inspect', 's1', '--limit', '2'], { leader: asked() })
    expect(lines(newest.stdout).map(line => line.split('\t')[0])).toEqual(['5', '6'])
    expect(newest.stderr).toContain('older records: --limit or --all')
    const leader = asked()
    const kind = await callCli(['inspect', 's1', '--kind', 'question'], { leader })
    expect(lines(kind.stdout).map(line => line.split('\t')[0])).toEqual(['4', '5'])
    const none = await callCli(['inspect', 's1', '--kind', 'task'], { leader: asked() })
    expect(none).toMatchObject({ stdout: '', code: 0, stderr: expect.stringContaining('no records of this kind') })
  })

  test('experience 9.1 --json has records with their events, steps and durations', async () => {
    const { stdout } = await callCli(['--json', 'inspect', 's1', '--limit', '3'], { leader: asked() })
    const { result } = JSON.parse(stdout)
    expect(result).toEqual({
      sessionId: 's1',
      records: [expect.anything(), expect.anything(), expect.anything()],
      steps: [{ revision: 5, step: 'answer', ms: 1 }],
      durations: [{ step: 'answer', count: 1, medianMs: 1, p95Ms: 1, maxMs: 1 }],
    })
    expect(result.records[0]).toMatchObject({
      revision: 4,
      at: 1_700_000_000_004,
      actor: 'run',
      epochNumber: 1,
      kinds: ['question'],
      words: 'asked: Colour?',
      turnId: 'turn-1',
      subjectId: 'ask-1',
      sinceMs: null,
      steps: [],
      events: [{ type: 'interaction_opened' }],
    })
  })

  test('experience 9.1 a long ledger comes as lines, whole, page by page, however long it is', async () => {
    const leader = new FakeLeader()
    const session = leader.addSession('s1')
    session.start('turn-1', 'hello')
    const all = LIMITS.ledgerPageRecords * 3
    while (session.records.length < all) session.say('more')
    const { stdout } = await callCli(['inspect', 's1', '--all', '--format', 'jsonl'], { leader })
    const values = lines(stdout).map(line => JSON.parse(line))
    expect(values.slice(0, -1).map(({ v, type, seq }) => [v, type, seq])).toEqual(
      session.records.map(({ revision }) => [1, 'ledger.record', revision]),
    )
    expect(values.at(-1)).toMatchObject({ type: 'ledger.durations', seq: all, sessionId: 's1' })
    const text = await callCli(['inspect', 's1', '--all'], { leader, isTerminal: true })
    expect(lines(text.stdout).filter(line => line.startsWith('REV'))).toHaveLength(1)
    expect(lines(text.stdout)).toHaveLength(all + 1)
    const refused = await callCli(['--json', 'inspect', 's1', '--all'], { leader })
    expect(refused).toMatchObject({ code: 2 })
  })

  test('experience 3.1 an unknown session is refused with the nearest ones', async () => {
    const { code, stderr } = await callCli(['inspect', 'frist'], { leader: asked() })
    expect(code).toBe(3)
    expect(stderr).toContain('(First)')
  })
})
