import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ERRORS, EXIT_CODES, HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import { SECTIONS } from '../../schema/projection/layout.ts'
import { CLOSE_CODES, closeReaction, readRetryAfterMs, retryReason } from '../../schema/wire/close-codes.ts'
import { PROJECT } from '../support/source-files.ts'
import { specTables, tableUnder, writeTable } from '../support/spec-tables.ts'

/** The codes that the wire promises; adding one is a change of the protocol. */
const WIRE = [
  'host_not_ready host_draining unauthorized not_found session_archived session_busy session_damaged queue_full already_delivered',
  'operation_conflict already_resolved invalid_request rate_limited persistence_failed storage_full outcome_unknown incompatible',
  'storage_fault root_regressed too_large root_not_empty forbidden internal_failure',
]
const LOCAL = [
  'offline unreachable timeout root_owned root_identity_changed root_name_taken path_too_long invalid_lease',
  'ownership_lost port_busy',
]

const words = (lines: readonly string[]): readonly string[] => lines.join(' ').split(' ')

const tables = specTables()
if (process.env.HEADWATER_RECORD_TABLES === '1') {
  for (const [heading, rows] of Object.entries(tables)) writeTable('schema/SPEC.md', heading, rows)
}

test.each([
  ['W5', '### Error codes'],
  ['W6', '### Close codes'],
  ['W2 A5', '### Operations'],
])('%s the page of rules and the code have the same table: %s', (_, heading) => {
  expect(tableUnder('schema/SPEC.md', heading)).toEqual(tables[heading])
})

test('W5 the codes are a closed list: those of the wire and those that never travel', () => {
  const codes = Object.entries(ERRORS)
  expect(codes.filter(([, row]) => row.wire).map(([code]) => code)).toEqual(words(WIRE))
  expect(codes.filter(([, row]) => !row.wire).map(([code]) => code)).toEqual(words(LOCAL))
})

test('W5 statuses and exit codes are the promised ones', () => {
  const by = <K>(key: (code: keyof typeof ERRORS) => K, value: K) =>
    (Object.keys(ERRORS) as (keyof typeof ERRORS)[]).filter(code => key(code) === value)
  const http = (status: number) => by(code => (ERRORS[code].wire ? ERRORS[code].http : 0), status)
  expect(http(503)).toEqual(['host_not_ready', 'host_draining', 'outcome_unknown', 'storage_fault', 'root_regressed'])
  expect(http(507)).toEqual(['storage_full'])
  expect(http(423)).toEqual(['session_damaged'])
  expect(by(code => ERRORS[code].exit as number, 4)).toEqual(['unauthorized', 'forbidden'])
  expect(by(code => ERRORS[code].exit as number, 5)).toEqual(['offline', 'unreachable'])
  const known: readonly number[] = Object.values(EXIT_CODES)
  expect(Object.values(ERRORS).filter(({ exit }) => !known.includes(exit))).toEqual([])
})

test('W5 every meaning is a sentence', () => {
  expect(Object.values(ERRORS).filter(({ meaning }) => !/^[A-Z].*\.$|^[A-Z].*--port\.$/.test(meaning))).toEqual([])
})

test('W5 an error carries its code, and is known also from another copy of the package', () => {
  const error = new HeadwaterError('session_busy', undefined, { turnId: 't-1' })
  expect([error.code, error.message, error.detail]).toEqual([
    'session_busy',
    ERRORS.session_busy.meaning,
    { turnId: 't-1' },
  ])
  expect(isHeadwaterError(Object.assign(new Error('x'), { code: 'not_found' }))).toBe(true)
  expect(isHeadwaterError(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe(false)
  expect(isHeadwaterError(Object.assign(new Error('x'), { code: 'toString' }))).toBe(false)
})

test('W6 codes of 44xx stop but for the two in which the library acts, those of 45xx come back', () => {
  const codes = Object.values(CLOSE_CODES) as number[]
  expect(codes.filter(code => code >= 4400 && code < 4500 && closeReaction(code) !== 'stop')).toEqual([4408, 4410])
  expect(codes.filter(code => code >= 4500 && closeReaction(code) !== 'retry')).toEqual([])
  expect(codes.filter(code => code >= 3000 && (code < 4400 || code > 4599))).toEqual([])
})

test('W6 the time to wait stands in the reason, which fits a close frame', () => {
  for (const name of Object.keys(CLOSE_CODES) as (keyof typeof CLOSE_CODES)[]) {
    const reason = retryReason(name, 30_000)
    expect(new TextEncoder().encode(reason).length).toBeLessThanOrEqual(123)
    expect(readRetryAfterMs(reason)).toBe(30_000)
  }
  const odd = ['', 'null', '{', '{"retryAfterMs":"1"}', '{"retryAfterMs":-1}', '[]', '7']
  expect(odd.map(readRetryAfterMs)).toEqual(odd.map(() => undefined))
})

test('A3 the page of rules names every section of the document', () => {
  const text = readFileSync(join(PROJECT, 'schema/SPEC.md'), 'utf8')
  const after = text.slice(text.indexOf('### Sections of a session document'), text.indexOf('## Specified later'))
  const line = after.split('\n').find(candidate => candidate.includes(' · ')) ?? ''
  expect(line.split(' · ').map(name => name.replaceAll('`', ''))).toEqual([...SECTIONS])
})

test('W5 the README names every exit code', () => {
  const rows = tableUnder('README.md', '### Exit codes').map(([code]) => Number(code))
  expect(rows).toEqual([...new Set(Object.values(EXIT_CODES))])
})
