import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { connectLeader, type LeaderConnection } from '../../../replica/index.ts'
import { isolatedEnvironment, useEnvironment } from '../../support/environment.ts'
import { type LeaderProcess, type ReadyLine, startLeaderProcess } from '../../support/leader-process.ts'

/** A leader in a process of its own on a root below `directory`, and how to reach it. */
export interface BenchLeader {
  readonly root: string
  readonly process: LeaderProcess & { readonly line: ReadyLine }
  connect(): Promise<LeaderConnection>
  close(): Promise<void>
}

/** Starts the product as a user would, with everything it keeps below `directory`. The root may exist already. */
export async function startProduct(directory: string): Promise<BenchLeader> {
  const restore = useEnvironment(isolatedEnvironment(directory))
  const root = rootIn(directory)
  const process = await startLeaderProcess({ root, readyMs: 120_000 })
  return {
    root,
    process,
    connect: () => connectTo(root),
    close: async () => {
      await process.stop(30_000)
      restore()
    },
  }
}

/** Where `startProduct` keeps the root of a directory. */
export function rootIn(directory: string): string {
  return join(directory, 'root')
}

/** A connection of the client library to the leader of a root. */
export async function connectTo(root: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root, surface: 'bench', cache: false })
  if (result.kind !== 'connected') throw new Error(`not connected: ${JSON.stringify(result)}`)
  return result.connection
}

/** New sessions on the scripted backend. */
export async function createSessions(connection: LeaderConnection, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  for (let at = 0; at < ids.length; at += 32) {
    const some = ids.slice(at, at + 32)
    await Promise.all(some.map(sessionId => connection.createSession({ sessionId, cwd: '/', backend: 'scripted' })))
  }
  return ids
}
