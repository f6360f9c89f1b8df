import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { canonicalJson } from '../../schema/canonical.ts'
import { commands } from '../../schema/commands/index.ts'
import { SessionHeader } from '../../schema/entities/session.ts'
import { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { Admission, Run } from '../../schema/entities/turn.ts'
import { ERRORS } from '../../schema/errors.ts'
import { SECTIONS } from '../../schema/projection/layout.ts'
import { DATA_FORMAT, DOCUMENT_SCHEMA, PROTOCOL } from '../../schema/version.ts'
import { CLOSE_CODES } from '../../schema/wire/close-codes.ts'
import { CommandFrame, HelloFrame, LeaderFrame, ReplicaFrame } from '../../schema/wire/frames.ts'
import { BEARER_PREFIX, SUBPROTOCOL, SYNC_MESSAGE, SYNC_STEP } from '../../schema/wire/sync.ts'
import { PROJECT, sourceFiles, walk } from '../support/source-files.ts'

/** One hash per version of each format. A change under a number that was released needs the next number and its history line. */
const FIXTURE = join(PROJECT, 'test', 'fixtures', 'shapes.json')

interface Shapes {
  /** What no version may ever change, so that any command line can ask and stop any leader. */
  readonly frozen: Record<string, string>
  readonly protocol: Record<string, string>
  readonly dataFormat: Record<string, string>
  readonly documentSchema: Record<string, string>
}

const shapes = {
  frozen: { version: 'all', hash: hashOf(frozenShape()) },
  protocol: { version: PROTOCOL.max, hash: hashOf(wireShape()) },
  dataFormat: { version: DATA_FORMAT, hash: hashOf(diskShape()) },
  documentSchema: { version: DOCUMENT_SCHEMA, hash: hashOf(documentShape()) },
} as const

if (process.env.HEADWATER_RECORD_SHAPES === '1') {
  const recorded = readFixture()
  for (const name of Object.keys(shapes) as (keyof Shapes)[]) recorded[name][shapes[name].version] = shapes[name].hash
  writeFileSync(FIXTURE, `${JSON.stringify(recorded, null, 2)}\n`)
}

test('M2 hello, host.status and host.shutdown have the shape they always had', () => {
  expect(readFixture().frozen.all).toBe(shapes.frozen.hash)
})

test.each([
  ['W2', 'protocol'],
  ['L1', 'dataFormat'],
  ['V1', 'documentSchema'],
] as const)('%s the shape of %s is the one recorded for its version', (_, name) => {
  const { version, hash } = shapes[name]
  const how = `${name} ${version} has another shape: give it the next number and a history line, or, before its release, record it anew`
  expect(readFixture()[name][version], how).toBe(hash)
})

test('W3 every version up to the newest is recorded and has a line of history', () => {
  const source = readFileSync(join(PROJECT, 'schema', 'version.ts'), 'utf8')
  const newest = { protocol: PROTOCOL.max, dataFormat: DATA_FORMAT, documentSchema: DOCUMENT_SCHEMA }
  for (const [name, version] of Object.entries(newest) as [keyof typeof newest, number][]) {
    const numbers = Array.from({ length: version }, (_, i) => String(i + 1))
    expect(Object.keys(readFixture()[name])).toEqual(numbers)
  }
  const histories = [...source.matchAll(/History: ([^\n]*(?:\n \* [^\n]*)*)/g)].map(match => match[1] ?? '')
  expect(histories.map(history => Math.max(...[...history.matchAll(/(\d+) = /g)].map(m => Number(m[1]))))).toEqual([
    PROTOCOL.max,
    DATA_FORMAT,
    DOCUMENT_SCHEMA,
  ])
  expect(PROTOCOL.min).toBeLessThanOrEqual(PROTOCOL.max)
})

test('W2 the hash tells shapes apart', () => {
  const one = jsonSchema(z.strictObject({ a: z.string() }))
  expect(hashOf(one)).toBe(hashOf(jsonSchema(z.strictObject({ a: z.string() }))))
  expect(hashOf(one)).not.toBe(hashOf(jsonSchema(z.object({ a: z.string() }))))
  expect(hashOf(one)).not.toBe(hashOf(jsonSchema(z.strictObject({ a: z.string(), b: z.optional(z.string()) }))))
  expect(hashOf(one)).not.toBe(hashOf(jsonSchema(z.strictObject({ a: z.string().check(z.maxLength(3)) }))))
})

function frozenShape(): unknown {
  const operations = [commands['host.status'], commands['host.shutdown']]
  return [jsonSchema(HelloFrame), operations.map(({ input, result }) => [jsonSchema(input), jsonSchema(result)])]
}

/** All that crosses a socket: operations, frames, codes, message numbers and the names of the protocol. */
function wireShape(): unknown {
  const operations = Object.entries(commands).map(([name, operation]) => {
    const { kind, input, result } = operation
    return { name, kind, input: jsonSchema(input), result: jsonSchema(result), ...scopeOf(operation) }
  })
  const frames = [ReplicaFrame, LeaderFrame, CommandFrame].map(jsonSchema)
  const codes = Object.entries(ERRORS).flatMap(([code, row]) => (row.wire ? [code] : []))
  const protocol = { SUBPROTOCOL, BEARER_PREFIX, SYNC_MESSAGE, SYNC_STEP, CLOSE_CODES, range: PROTOCOL }
  return {
    operations,
    frames,
    codes,
    protocol,
    errorAndReply: declaration('schema/wire/frames.ts', 'WireError', 'ReplyFrame'),
  }
}

function scopeOf(operation: object): object {
  const { identity, scope } = operation as { identity?: string; scope?: string }
  return { identity: identity ?? null, scope: scope ?? null }
}

/** All that a ledger, a row or a receipt holds. */
function diskShape(): unknown {
  return {
    entities: [SessionHeader, Admission, Run, TranscriptEntry].map(jsonSchema),
    events: declaration('schema/events.ts', 'EventPayloads', 'RunOrigin', 'OfRun', 'OfEntry', 'LedgerRecord'),
    rows: declaration('leader/log/store.ts', 'ROW_KINDS'),
  }
}

/** All that a session's document holds. */
function documentShape(): unknown {
  const records = declaration(
    'schema/projection/layout.ts',
    'DocumentHead',
    'DocumentOrigin',
    'DocumentCounters',
    'QueueRecord',
    'InteractionRecord',
    'BlockMeta',
  )
  return { sections: SECTIONS, records }
}

function jsonSchema(schema: z.ZodMiniType): unknown {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })))
}

/** The text of declarations that exist as types only, without comments and white space. */
function declaration(path: string, ...names: readonly string[]): unknown {
  const file = sourceFiles(path.split('/')[0] as string).find(candidate => candidate.path === path)
  if (file === undefined) throw new Error(`there is no ${path}`)
  const found: Record<string, string> = {}
  walk(file.parsed.program, (node, parent) => {
    const { id } = node as unknown as { id?: { name?: string } }
    const isDeclaration = node.type.endsWith('Declaration') || node.type === 'VariableDeclarator'
    if (!isDeclaration || parent === null || id?.name === undefined || !names.includes(id.name)) return
    const comments = file.parsed.comments.filter(({ start, end }) => start >= node.start && end <= node.end)
    let text = file.text.slice(node.start, node.end)
    for (const { start, end } of comments.toReversed()) {
      text = text.slice(0, start - node.start) + text.slice(end - node.start)
    }
    found[id.name] = text.replace(/\s+/g, '')
  })
  const lost = names.filter(name => found[name] === undefined)
  if (lost.length > 0) throw new Error(`${path} does not declare ${lost.join(', ')}`)
  return found
}

function hashOf(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`
}

function readFixture(): Shapes {
  return JSON.parse(readFileSync(FIXTURE, 'utf8')) as Shapes
}
