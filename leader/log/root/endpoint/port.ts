import { createServer } from 'node:net'
import { HeadwaterError } from '../../../../schema/errors.ts'
import { LIMITS } from '../../../../schema/limits.ts'

/**
 * A TCP port that is free on 127.0.0.1 now, from 20000 to 29999. Where the search begins follows from the root's id, so that several roots
 * of one machine seldom meet, whether or not their leaders run. Errors: `port_busy` after too many busy ones. Source: W1.
 */
export async function chooseFreePort(rootId: string): Promise<number> {
  const count = LIMITS.rootPortLast - LIMITS.rootPortFirst + 1
  const start = Number.parseInt(rootId.slice(0, 8), 16)
  for (let i = 0; i < LIMITS.rootPortProbes; i++) {
    const port = LIMITS.rootPortFirst + ((start + i) % count)
    if (await isPortFree(port)) return port
  }
  throw new HeadwaterError(
    'port_busy',
    `No free TCP port was found among ${LIMITS.rootPortProbes}; choose one with --port.`,
  )
}

/** True when nothing listens on this port of 127.0.0.1 now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
