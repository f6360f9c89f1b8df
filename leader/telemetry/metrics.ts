import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { LIMITS } from '../../schema/limits.ts'
import { COUNTERS, type CounterRow, GAUGES, type GaugeRow, HISTOGRAMS, type HistogramRow } from './metric-table.ts'

const LOOP_SAMPLE_MS = 20

/** Counts; the values stand for the labels in the table's order. Costs one map look-up. */
export interface Tally {
  add(...labels: readonly string[]): void
  addMany(amount: number, ...labels: readonly string[]): void
}

/** A distribution of durations. */
export interface Timing {
  observe(seconds: number): void
}

/** A number that is asked for at each scrape: one number, or one per value of the gauge's label. */
export type GaugeReader = () => GaugeValue | Promise<GaugeValue>
type GaugeValue = number | Readonly<Record<string, number>>

/** Everything the leader counts. */
export type Metrics = { readonly [K in keyof typeof COUNTERS]: Tally } & {
  readonly [K in keyof typeof HISTOGRAMS]: Timing
} & {
  /** Says where a gauge's value comes from; the last one given counts. */
  readGauge(gauge: keyof typeof GAUGES, reader: GaugeReader): void
  /** The Prometheus text. */
  scrape(): Promise<string>
  readonly contentType: string
  /** Ends the observation of the event loop. */
  close(): void
}

/** Creates the counters of one leader in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const readers = new Map<string, GaugeReader>()
  const delay = monitorEventLoopDelay({ resolution: LOOP_SAMPLE_MS })
  delay.enable()
  readers.set('eventLoopDelaySeconds', () => {
    const delays = { '0.5': late(delay.percentile(50)), '0.99': late(delay.percentile(99)), '1': late(delay.max) }
    delay.reset()
    return delays
  })
  for (const [key, row] of Object.entries(GAUGES)) openGauge(registry, row, () => readers.get(key)?.())
  return {
    ...mapRows(COUNTERS, row => openTally(registry, row)),
    ...mapRows(HISTOGRAMS, row => openTiming(registry, row)),
    readGauge: (gauge, reader) => void readers.set(gauge, reader),
    scrape: () => registry.metrics(),
    contentType: registry.contentType,
    close: () => {
      delay.disable()
      registry.clear()
    },
  }
}

/** The histogram holds intervals between samples; what is over the sample's own interval is delay. */
function late(intervalNs: number): number {
  return Math.max(0, intervalNs / 1e9 - LOOP_SAMPLE_MS / 1e3)
}

function mapRows<K extends string, Row, Out>(rows: Readonly<Record<K, Row>>, open: (row: Row) => Out): Record<K, Out> {
  return Object.fromEntries(Object.entries<Row>(rows).map(([key, row]) => [key, open(row)])) as Record<K, Out>
}

/** Values are added up in plain numbers and handed to the registry only when somebody scrapes. */
function openTally(registry: Registry, [name, help, labelNames]: CounterRow): Tally {
  const sums = new Map<string, { readonly labels: readonly string[]; value: number }>()
  const addMany = (amount: number, ...labels: readonly string[]) => {
    const key = labels.length === 1 ? labels[0]! : labels.join('\n')
    const sum = sums.get(key)
    if (sum) sum.value += amount
    else if (sums.size < LIMITS.metricLabelSets) sums.set(key, { labels, value: amount })
    else if (labels.some(label => label !== 'other')) addMany(amount, ...labels.map(() => 'other'))
    else sums.set(key, { labels, value: amount })
  }
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset()
      for (const { labels, value } of sums.values()) {
        this.inc(Object.fromEntries(labelNames.map((label, index) => [label, labels[index] ?? ''])), value)
      }
    },
  })
  return { add: (...labels) => addMany(1, ...labels), addMany }
}

function openTiming(registry: Registry, [name, help, buckets]: HistogramRow): Timing {
  return new Histogram({ name, help, buckets: [...buckets], registers: [registry] })
}

function openGauge(registry: Registry, [name, help, label]: GaugeRow, read: () => ReturnType<GaugeReader> | undefined) {
  new Gauge({
    name,
    help,
    labelNames: label === null ? [] : [label],
    registers: [registry],
    async collect() {
      const value = await read()
      this.reset()
      if (typeof value === 'number') this.set(value)
      else if (value && label !== null) {
        for (const [key, number] of Object.entries(value)) this.set({ [label]: key }, number)
      }
    },
  })
}
