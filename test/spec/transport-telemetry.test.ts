import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLogger, fingerprint } from '../../leader/telemetry/logger.ts'
import { COUNTERS, GAUGES, HISTOGRAMS } from '../../leader/telemetry/metric-table.ts'
import { createMetrics } from '../../leader/telemetry/metrics.ts'
import { RotatingFile } from '../../leader/telemetry/rotating-file.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { testTempDir } from '../support/temp-dir.ts'

/** A logger and the lines it wrote, parsed. */
function capture() {
  const lines: string[] = []
  const destination = { stream: { write: (line: string) => void lines.push(line) } }
  const logger = createLogger({ destination, epoch: 'e1', root: 'r1', level: 'debug' })
  return { logger, lines, parsed: () => lines.map(line => JSON.parse(line)) }
}

function openMetrics() {
  const metrics = createMetrics()
  onTestFinished(() => metrics.close())
  return metrics
}

test('Z2 a log line is JSON with level, time, msg, epoch and root', () => {
  const { logger, parsed } = capture()
  logger.warn({ session_id: 's1', code: 'session_busy' }, 'refused')
  expect(parsed()).toEqual([
    {
      level: 'warn',
      time: expect.any(Number),
      epoch: 'e1',
      root: 'r1',
      session_id: 's1',
      code: 'session_busy',
      msg: 'refused',
    },
  ])
  expect(Math.abs(parsed()[0].time - Date.now())).toBeLessThan(5_000)
})

test('Z2 words of people and secrets are not logged, however they get into a line', () => {
  const { logger, lines } = capture()
  const secret = 'the words'
  logger.info({ text: secret, token: secret, headers: { authorization: secret } }, 'top')
  logger.info({ command: { content: { text: secret }, input: { a: secret } }, session: { title: secret } }, 'below')
  logger.info({ error: { message: secret, detail: { text: secret } } }, 'refusal')
  logger.error({ err: new Error(secret) }, 'failed')
  logger.child({ content: secret }).info('child')
  expect(lines).toHaveLength(5)
  expect(lines.join('')).not.toContain(secret)
})

test('Z2 an error is logged by class, code and place; a typed refusal with its own words', () => {
  const { logger, parsed } = capture()
  logger.error({ err: Object.assign(new TypeError('private'), { code: 'EIO' }) }, 'failed')
  logger.error({ err: new HeadwaterError('storage_full') }, 'failed')
  expect(parsed()[0].err).toMatchObject({
    type: 'TypeError',
    code: 'EIO',
    at: expect.arrayContaining([expect.stringContaining('at ')]),
  })
  expect(parsed()[1].err).toMatchObject({
    type: 'HeadwaterError',
    code: 'storage_full',
    words: expect.stringContaining('disk'),
  })
})

test('Z2 a text is told by its length and a digest that gives nothing away', () => {
  expect(fingerprint('hello')).toEqual({ chars: 5, sha256: '2cf24dba5fb0' })
})

test('A7 a log file is moved on when it is full, and only so many are kept', () => {
  const path = join(testTempDir(), 'logs', 'leader.log')
  const file = new RotatingFile(path, { fileBytes: 100, files: 3 })
  for (let i = 0; i < 20; i++) file.write(`line ${String(i).padStart(2, '0')} ${'.'.repeat(30)}\n`)
  file.close()
  const lines = ['leader.log.2', 'leader.log.1', 'leader.log'].flatMap(name =>
    readFileSync(join(path, '..', name), 'utf8')
      .trim()
      .split('\n'),
  )
  expect(readdirSync(join(path, '..')).sort()).toEqual(['leader.log', 'leader.log.1', 'leader.log.2'])
  expect(lines.map(line => Number(line.slice(5, 7)))).toEqual([14, 15, 16, 17, 18, 19])
  expect([file.droppedLines, statSync(path).mode & 0o777]).toEqual([0, 0o600])
})

test('A7 a log goes on where the leader before left it', () => {
  const path = join(testTempDir(), 'leader.log')
  writeFileSync(path, 'x'.repeat(90))
  const file = new RotatingFile(path, { fileBytes: 100, files: 2 })
  file.write('first of the next\n')
  file.write('second\n')
  file.close()
  expect(readFileSync(`${path}.1`, 'utf8')).toBe(`${'x'.repeat(90)}first of the next\n`)
  expect(readFileSync(path, 'utf8')).toBe('second\n')
})

test('E8 a log that cannot be written counts what it loses and stops nobody', () => {
  const directory = testTempDir()
  writeFileSync(join(directory, 'file'), '')
  const path = join(directory, 'file', 'leader.log')
  const file = new RotatingFile(path)
  file.write('lost\n')
  const full = new RotatingFile('/dev/full')
  full.write('lost\n')
  expect([file.droppedLines, full.droppedLines, existsSync(path)]).toEqual([1, existsSync('/dev/full') ? 1 : 0, false])
})

test('W1 every metric of the table is scraped, named by unit, and labelled by closed sets', async () => {
  const metrics = openMetrics()
  metrics.readGauge('sessions', () => ({ loaded: 2 }))
  const text = await metrics.scrape()
  for (const [name, help] of [...Object.values(COUNTERS), ...Object.values(HISTOGRAMS), ...Object.values(GAUGES)]) {
    expect(text).toContain(`# HELP ${name} ${help}\n`)
  }
  expect(Object.values(COUNTERS).filter(([name]) => !name.endsWith('_total'))).toEqual([])
  const labels = [
    ...Object.values(COUNTERS).flatMap(([, , names]) => names),
    ...Object.values(GAUGES).map(([, , name]) => name),
  ]
  expect([...new Set(labels)].sort()).toEqual(
    ['case', 'code', 'kind', 'outcome', 'part', 'placement', 'quantile', 'state', 'status', null].sort(),
  )
  expect(text).toContain('headwater_sessions{state="loaded"} 2')
})

test('A7 a counter keeps a bounded number of label sets; the rest counts as other', async () => {
  const metrics = openMetrics()
  for (let i = 0; i < LIMITS.metricLabelSets + 100; i++) metrics.turnsTotal.add(`made-up-${i}`)
  metrics.turnsTotal.addMany(5, 'made-up-0')
  const lines = (await metrics.scrape()).split('\n').filter(line => line.startsWith('headwater_turns_total{'))
  expect(lines).toHaveLength(LIMITS.metricLabelSets + 1)
  expect(lines).toContain('headwater_turns_total{outcome="other"} 100')
  expect(lines).toContain('headwater_turns_total{outcome="made-up-0"} 6')
})

test('W1 scraping twice does not count twice', async () => {
  const metrics = openMetrics()
  metrics.commandsTotal.add('turn.start', 'ok')
  metrics.batchSyncSeconds.observe(0.003)
  await metrics.scrape()
  const text = await metrics.scrape()
  expect(text).toContain('headwater_commands_total{kind="turn.start",outcome="ok"} 1\n')
  expect(text).toContain('headwater_batch_sync_seconds_bucket{le="0.005"} 1\n')
  expect(text).toContain('headwater_batch_sync_seconds_count 1\n')
})
