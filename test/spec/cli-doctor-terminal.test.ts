import { expect, test } from 'vitest'
import { checkTerminal } from '../../replica/cli/commands/doctor/check-terminal.ts'
import { readTerminal } from '../../replica/tui/settings/terminal-facts.ts'
import { callCli } from '../support/cli/call-cli.ts'
import { testTempDir } from '../support/temp-dir.ts'

const XTERM = { TERM: 'xterm-256color', LANG: 'en_GB.UTF-8' }

function checked(env: Record<string, string>, { columns = 100, rows = 30, platform = 'linux' } = {}) {
  return checkTerminal({ env, platform, columns, rows }).map(({ name, state, text }) => `${state} ${name}: ${text}`)
}

test('experience 7.3 doctor tells what was found out about the terminal', () => {
  expect(checked(XTERM)).toEqual([
    'ok terminal: xterm-256color',
    'ok size: 100×30',
    'ok colours: 256',
    'ok characters: en_GB.UTF-8',
  ])
  expect(
    checked({ ...XTERM, TERM: 'tmux-256color', TMUX: '/tmp/x', SSH_TTY: '/dev/pts/1', COLORTERM: 'truecolor' }),
  ).toEqual([
    'ok terminal: tmux-256color',
    'ok size: 100×30',
    'ok colours: truecolor',
    'ok characters: en_GB.UTF-8',
    'ok tmux: for the clipboard: set -g set-clipboard on; to notice what waits: set -g focus-events on',
    'ok ssh: the clipboard is that of the other end, if its terminal takes OSC 52',
  ])
})

test('experience 7.3 a terminal that a screen cannot be drawn on is worth a look, and no failure', () => {
  expect(checked({ TERM: 'dumb', LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, { columns: 39, rows: 9 })).toEqual([
    'warn terminal: $TERM is dumb: no screen can be drawn on it',
    'warn size: 39×9 is too small for a screen',
    'ok colours: none',
    'warn characters: the locale C is not UTF-8: signs beyond ASCII may be drawn wrongly',
  ])
  expect(checked({ NO_COLOR: '1' })).toEqual([
    'warn terminal: $TERM is not set: no screen can be drawn on it',
    'ok size: 100×30',
    'ok colours: none are wanted: $NO_COLOR is set',
    'warn characters: no locale is set: signs beyond ASCII may be drawn wrongly',
  ])
  expect(checked({ WT_SESSION: 'x' }, { platform: 'win32' })).toEqual([
    'ok terminal: Windows',
    'ok size: 100×30',
    'ok colours: truecolor',
    'ok characters: Unicode',
  ])
})

test.each([
  [{ TERM: 'xterm' }, '16'],
  [{ TERM: 'xterm-256color' }, '256'],
  [{ TERM: 'xterm-direct' }, 'truecolor'],
  [{ TERM: 'xterm', COLORTERM: '24bit' }, 'truecolor'],
  [{ TERM: 'xterm', COLORTERM: '24bit', NO_COLOR: '1' }, 'none'],
  [{ TERM: 'dumb', COLORTERM: 'truecolor' }, 'none'],
] as const)('experience 7.3 %j has colours: %s', (env, colours) => {
  expect(readTerminal(env).colours).toBe(colours)
})

test('experience 7.3 doctor looks at the terminal only where there is one', async () => {
  const root = `${testTempDir('doctor-terminal')}/none`
  const env = { ...XTERM, STY: '1.x' }
  const inTerminal = await callCli(['doctor', '--root', root], { env, isTerminal: true })
  expect(inTerminal.stdout).toMatch(/^.*ok.*screen +it passes on neither the clipboard nor links$/m)
  expect((await callCli(['doctor', '--root', root], { env })).stdout).not.toContain('screen')
})
