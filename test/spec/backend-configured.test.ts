import { expect, test } from 'vitest'
import { createConfiguredBackends, readConfiguredBackends } from '../../leader/execution/configured.ts'
import { isHeadwaterError } from '../../schema/errors.ts'

test('S1 configured agents become backends under their names', () => {
  const configured = readConfiguredBackends({
    opencode: { acp: ['opencode', 'acp'] },
    other: { acp: ['/bin/other'], env: { KEY: 'value' } },
  })
  expect(configured).toEqual([
    { name: 'opencode', acp: ['opencode', 'acp'], env: {} },
    { name: 'other', acp: ['/bin/other'], env: { KEY: 'value' } },
  ])
  const backends = createConfiguredBackends(configured)
  expect(backends.map(({ kind, takesSteering }) => ({ kind, takesSteering }))).toEqual([
    { kind: 'opencode', takesSteering: false },
    { kind: 'other', takesSteering: false },
  ])
  expect(readConfiguredBackends(undefined)).toEqual([])
})

test.each([
  ['backends', []],
  ['backends', 'x'],
  ['backends.a', { a: null }],
  ['backends.a.command', { a: { command: ['x'] } }],
  ['backends.a.acp', { a: {} }],
  ['backends.a.acp', { a: { acp: [] } }],
  ['backends.a.acp', { a: { acp: 'opencode acp' } }],
  ['backends.a.acp[0]', { a: { acp: [''] } }],
  ['backends.a.acp[1]', { a: { acp: ['x', 'a\0b'] } }],
  ['backends.a.env.1X', { a: { acp: ['x'], env: { '1X': '' } } }],
  ['backends.a.env.HEADWATER_TOKEN', { a: { acp: ['x'], env: { HEADWATER_TOKEN: 'x' } } }],
  ['backends.a.env.X', { a: { acp: ['x'], env: { X: 1 } } }],
  ['backends.', { '': { acp: ['x'] } }],
  ['backends.__proto__', JSON.parse('{"__proto__": {"acp": ["x"]}}')],
])('S1 C4 a fault in the configuration is refused with its path %s', (path, value) => {
  let refusal: unknown
  try {
    readConfiguredBackends(value)
  } catch (error) {
    refusal = error
  }
  expect(isHeadwaterError(refusal) && { code: refusal.code, path: refusal.detail?.path }).toEqual({
    code: 'invalid_request',
    path,
  })
})
