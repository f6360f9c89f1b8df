import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createLogger } from '../../../leader/telemetry/logger.ts'
import { createMetrics, type Metrics } from '../../../leader/telemetry/metrics.ts'
import { CredentialTable } from '../../../leader/transport/auth.ts'
import { type Listeners, startListeners, type TcpOptions } from '../../../leader/transport/listener.ts'
import type { TransportLimits } from '../../../leader/transport/parts.ts'
import { ConnectionRoster } from '../../../leader/transport/roster.ts'
import { FakeHost } from '../fake-host.ts'
import { makeTempDir, removeTempDir } from '../temp-dir.ts'

/** The root token of test leaders: 32 bytes as text, like a real one. */
export const TOKEN = Buffer.alloc(32, 7).toString('base64url')

/** A transport in front of a fake host, on a Unix socket and any free TCP port. */
export interface TestLeader {
  readonly host: FakeHost
  readonly listeners: Listeners
  readonly credentials: CredentialTable
  readonly roster: ConnectionRoster
  readonly metrics: Metrics
  readonly socketPath: string
  readonly port: number
  /** Every line that was logged. */
  readonly logLines: string[]
}

/** Starts one; it is closed and its directory removed when the test ends. */
export async function startTestLeader(
  limits: Partial<TransportLimits> = {},
  tcp: Partial<TcpOptions> = {},
): Promise<TestLeader> {
  const directory = makeTempDir('w')
  const roster = new ConnectionRoster()
  const host = new FakeHost(roster)
  const credentials = CredentialTable.ofRootToken(TOKEN, 1)
  const metrics = createMetrics()
  const logLines: string[] = []
  const logger = createLogger({ destination: { stream: { write: line => void logLines.push(line) } }, level: 'trace' })
  const socketPath = join(directory, 's')
  const options = { host, socketPath, credentials, roster, metrics, logger, limits }
  const listeners = await startListeners({ ...options, tcp: { host: '127.0.0.1', port: 0, ...tcp } })
  onTestFinished(async () => {
    await listeners.close({ drain: false })
    metrics.close()
    removeTempDir(directory)
  })
  return { host, listeners, credentials, roster, metrics, socketPath, port: listeners.port ?? -1, logLines }
}
