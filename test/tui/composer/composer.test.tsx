import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { App } from '../../../replica/tui/app/app-context.ts'
import { Composer } from '../../../replica/tui/composer/composer.tsx'
import { composerLines } from '../../../replica/tui/composer/composer-lines.ts'
import type { ComposerProps } from '../../../replica/tui/composer/composer-props.ts'
import { DraftStore, type SendMode } from '../../../replica/tui/composer/draft-store.ts'
import { HistoryFile } from '../../../replica/tui/composer/history-file.ts'
import type { TuiOptions } from '../../../replica/tui/options.ts'
import { lineWidth } from '../../../replica/tui/text/measure.ts'
import { typed } from '../../../replica/view/composer/editor.ts'
import { expanded } from '../../../replica/view/composer/folded-text.ts'
import { testTempDir } from '../../support/temp-dir.ts'
import { RenderedPart } from '../../support/tui/render-part.tsx'
import { waitFor } from '../../support/wait-for.ts'

interface Sent {
  readonly text: string
  readonly mode: SendMode
  readonly settle: (isAccepted: boolean) => void
}

/** A composer by itself: what it sends, says and asks for is written down. */
async function stage(over: Partial<ComposerProps> = {}, settings: Partial<TuiOptions['settings']> = {}) {
  const drafts = new DraftStore(null)
  const history = new HistoryFile(join(testTempDir('composer'), 'history'), 'root')
  const sent: Sent[] = []
  const told: string[] = []
  const asked: string[] = []
  const app: Partial<App> = {
    options: {
      env: {},
      settings: { enterWhileRunning: 'follow_up', ...settings },
    } as Partial<TuiOptions> as TuiOptions,
    tell: text => void told.push(text),
    leave: () => void asked.push('leave'),
  }
  const props: ComposerProps = {
    sessionId: 's',
    drafts,
    history,
    columns: 60,
    maxRows: 8,
    isFocused: true,
    isRunning: false,
    canSend: true,
    onSend: (text, mode) => new Promise(settle => sent.push({ text, mode, settle })),
    onRecall: () => asked.push('recall') < 0,
    ...over,
  }
  const part = new RenderedPart(<Composer {...props} />, { columns: props.columns, app })
  onTestFinished(() => part.close())
  onTestFinished(() => history.load())
  await waitFor(() => part.router.offered().length > 0)
  const type = (text: string): void => void part.press(...text)
  const draw = (change: Partial<ComposerProps>): void => part.draw(<Composer {...props} {...change} />)
  const text = (): string => expanded(drafts.get('s').editor)
  return { part, drafts, history, sent, told, asked, type, draw, text }
}

test('experience 6.1 what is typed is there, and what is sent stays to be seen until the leader has it', async () => {
  const { part, type, sent, text, history, drafts } = await stage()
  await part.seen(/^> Write to the agent/)
  type('hello there')
  await part.seen(/^> hello there/)
  expect(part.press('enter')).toEqual([true])
  await part.seen(/^ {2}sending… hello there/)
  type('next')
  await part.seen('> next')
  expect(sent.map(({ text, mode }) => [text, mode])).toEqual([['hello there', 'send']])
  sent[0]?.settle(true)
  await waitFor(() => !part.text.includes('sending'))
  expect([text(), history.texts('s'), drafts.get('s').sending]).toEqual(['next', ['hello there'], []])
})

test('experience 6.1 a text that the leader does not take comes back', async () => {
  const { part, type, sent, text, history } = await stage()
  type('hello')
  part.press('enter')
  type('more')
  sent[0]?.settle(false)
  await part.seen('> hello')
  expect([text(), history.texts('s')]).toEqual(['hello\n\nmore', []])
  const broken = await stage({ onSend: () => Promise.reject(new Error('lost')) })
  broken.type('hello')
  broken.part.press('enter')
  await waitFor(() => broken.text() === 'hello')
})

test.each([
  ['follow_up', ['queue', 'steer', 'steer', 'queue']],
  ['steering', ['steer', 'queue', 'queue', 'queue']],
] as const)(
  'experience 6.2 while a turn runs Enter, Ctrl+S, Ctrl+Enter and Tab mean what is set: %s',
  async (enterWhileRunning, modes) => {
    const { part, type, sent } = await stage({ isRunning: true }, { enterWhileRunning })
    for (const key of ['enter', 'ctrl+s', 'ctrl+enter', 'tab']) {
      type('text')
      expect(part.press(key)).toEqual([true])
    }
    expect(sent.map(({ mode }) => mode)).toEqual(modes)
    expect(part.press('tab')).toEqual([false])
  },
)

test('experience 6.2 with no turn running every key sends, and Tab moves on', async () => {
  const { part, type, sent, text } = await stage()
  for (const key of ['enter', 'ctrl+s']) {
    type('text')
    part.press(key)
  }
  type('text')
  expect(part.press('tab')).toEqual([false])
  expect([sent.map(({ mode }) => mode), text()]).toEqual([['send', 'send'], 'text'])
  const blank = await stage()
  blank.type('  ')
  expect([blank.part.press('enter'), blank.sent]).toEqual([[false], []])
})

test('experience 6.1 a new line has keys of its own, and a paste never sends', async () => {
  const { part, type, sent, text } = await stage()
  type('one')
  part.press('ctrl+j')
  type('two\\')
  part.press('enter')
  part.router.paste('three\rfour\r')
  expect([text(), sent]).toEqual(['one\ntwo\nthree\nfour\n', []])
  await part.seen(/^> one *\n {2}two *\n {2}three *\n {2}four *\n {2} *$/)
})

test('experience 5.3 without a leader nothing is sent, the reason is told, and the text stays', async () => {
  const { part, type, sent, told, text, draw } = await stage({ canSend: false, reason: 'offline' })
  await part.seen('> offline · what you write is kept')
  type('hello')
  part.press('enter')
  part.press('ctrl+s')
  expect([sent, told, text()]).toEqual([[], ['offline', 'offline'], 'hello'])
  draw({ canSend: true })
  await part.seen('> hello')
  part.press('enter')
  draw({ canSend: false })
  await part.seen('checking… hello')
  expect(sent.map(({ text }) => text)).toEqual(['hello'])
})

test('experience 7.2 help, palette and commands open from an empty composer only', async () => {
  const asked: string[] = []
  const { part, type, text } = await stage({ onSlash: () => asked.push('slash') > 0 })
  expect(part.press('?', ':', '/')).toEqual([false, false, true])
  expect([asked, text()]).toEqual([['slash'], ''])
  type('a?:/')
  expect(text()).toBe('a?:/')
  const plain = await stage({ onSlash: () => false })
  plain.type('/x')
  expect(plain.text()).toBe('/x')
})

test('experience 7.2 Ctrl+C clears what is written and leaves at the second time; Ctrl+D leaves when nothing is written', async () => {
  const { part, type, asked, told, text, history } = await stage({ isRunning: true })
  type('draft')
  part.press('ctrl+d', 'ctrl+c')
  expect([text(), asked, history.texts('s')]).toEqual(['', [], ['draft']])
  expect(told).toEqual(['Ctrl+C again leaves; the turn keeps running'])
  type('another')
  part.press('ctrl+c')
  expect([text(), asked]).toEqual(['', []])
  part.press('ctrl+_')
  expect(text()).toBe('another')
  part.press('ctrl+c', 'ctrl+c')
  expect(asked).toEqual(['leave'])
  part.press('ctrl+d')
  expect(asked).toEqual(['leave', 'leave'])
})

test('experience 7.2 up takes a waiting message back, else shows what was sent in this session', async () => {
  const back = await stage({ onRecall: () => true })
  await back.history.add('s', 'older')
  expect([back.part.press('up'), back.text()]).toEqual([[true], ''])

  const { part, history, text, type, asked } = await stage()
  await history.add('other', 'elsewhere')
  await history.add('s', 'first\nof two lines')
  await history.add('s', 'second')
  type('draft')
  part.press('up')
  expect(text()).toBe('second')
  part.press('up')
  expect(text()).toBe('first\nof two lines')
  part.press('up', 'up', 'down', 'down', 'down', 'down')
  expect([text(), asked]).toEqual(['draft', []])
  part.press('ctrl+u', 'up')
  expect([text(), asked]).toEqual(['second', ['recall']])
})

test('experience 7.2 sending what was found in the history leaves the draft', async () => {
  const { part, history, text, type, sent } = await stage()
  await history.add('s', 'again')
  type('draft')
  part.press('up', 'enter')
  expect([sent.map(({ text }) => text), text()]).toEqual([['again'], 'draft'])
})

test('experience 6.1 Ctrl+R searches what was sent in all sessions of the root', async () => {
  const { part, history, text, type } = await stage()
  await history.add('other', 'run the tests there')
  await history.add('s', 'run it')
  type('draft')
  part.press('ctrl+r')
  await part.seen('sent before:')
  type('run')
  await part.seen(/^> run it/)
  part.press('ctrl+r')
  await part.seen(/^> run the tests there/)
  part.press('esc')
  await waitFor(() => !part.text.includes('sent before'))
  expect(text()).toBe('draft')
  part.press('ctrl+r')
  type('nothing like this')
  await part.seen('nothing sent has nothing like this')
  part.press('ctrl+c')
  await part.seen(/^> draft/)
  part.press('ctrl+r', ...'tests', 'enter')
  await part.seen(/^> run the tests there *$/)
  expect(text()).toBe('run the tests there')
})

test('experience 6.1 a paste of 2 000 lines is one thing on the screen and whole when it is sent', async () => {
  const lines = Array.from({ length: 2_000 }, (_, line) => `${line}: ${'x'.repeat(40)}`).join('\n')
  const { part, type, sent } = await stage()
  type('look: ')
  part.router.paste(lines)
  type(' ok')
  await part.seen('> look: [pasted 2,000 lines] ok')
  await part.seen('KiB · goes as an attached file')
  expect(part.rows).toHaveLength(2)
  part.press('enter')
  expect(sent[0]?.text).toBe(`look: ${lines} ok`)
})

test('experience 7.1 the composer is as high as it must be, at most 8 rows, with all that belongs to it', async () => {
  const { part, drafts } = await stage()
  drafts.edit('s', editor => typed(editor, Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n')))
  await part.seen(/^↑ line 12[\s\S]*line 19 *$/)
  expect(part.rows).toHaveLength(8)
  drafts.beginSending('s', 'send')
  drafts.edit('s', editor => typed(editor, `${'x\n'.repeat(20_000)}`))
  await part.seen('sending… line 0')
  expect(part.rows.length).toBeLessThanOrEqual(8)
  for (const maxRows of [1, 2, 3, 8]) {
    const look = { draft: drafts.get('s'), search: null, maxRows, columns: 20, top: 0, placeholder: 'x' }
    const { lines } = composerLines({ ...look, isFocused: true, canSend: true })
    expect(lines.length).toBeLessThanOrEqual(maxRows)
    expect(lines.flat().filter(({ inverse }) => inverse === true)).toHaveLength(1)
    for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(20)
  }
})

test('experience 7.1 the cursor is a cell of its own looks, wherever it stands, and only with the focus', async () => {
  const { part, drafts, type, draw } = await stage()
  const cursor = (isFocused = true): string[] => {
    const look = { draft: drafts.get('s'), search: null, maxRows: 8, columns: 20, top: 0, placeholder: 'write' }
    const { lines } = composerLines({ ...look, isFocused, canSend: true })
    return lines.flat().flatMap(({ text, inverse }) => (inverse === true ? [text] : []))
  }
  expect(cursor()).toEqual(['w'])
  type('a日\u0007')
  expect(cursor()).toEqual([' '])
  part.press('left')
  expect(cursor()).toEqual(['␇'])
  part.press('left')
  expect(cursor()).toEqual(['日'])
  part.press('end')
  part.router.paste('x\n'.repeat(20))
  part.press('left')
  expect(cursor()).toEqual(['[pasted 20 lines]'])
  expect(cursor(false)).toEqual([])
  draw({ isFocused: false })
  await waitFor(() => part.router.offered().length === 0)
})

test('Z6 nothing that is pasted or named reaches the terminal as a command', async () => {
  const { part, drafts } = await stage({ canSend: false, reason: 'no \u001b[31mleader\u001b]0;x\u0007' })
  await part.seen('> no leader')
  part.router.paste('a\u001b[2Jb\u009b3J\u202e')
  await part.seen('> a␛[2Jb·3J·')
  drafts.beginSending('s', 'send')
  await part.seen('checking… ab')
  expect(part.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
})
