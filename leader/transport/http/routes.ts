import type { IncomingMessage, ServerResponse } from 'node:http'
import { ClientActor } from '../../../schema/entities/primitives.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { Caller } from '../host-port.ts'
import { countedName } from '../link/counted-name.ts'
import type { TransportParts } from '../parts.ts'
import { answerReply, answerText, readBody, refuse, refuseAndClose } from './answer.ts'
import { getArtifact, putArtifact } from './artifacts.ts'
import { type GateLists, identify, isAddressedHere, readBearer, redirectTarget, type Visitor } from './gate.ts'
import type { HttpConnection } from './http-connection.ts'

/** One request on its way: what it asks for, who asks, and on which connection. */
interface Visit {
  readonly parts: TransportParts
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly visitor: Visitor
  readonly connection: HttpConnection
  /** The path's segments, decoded, behind the route's own. */
  readonly rest: readonly string[]
  readonly query: URLSearchParams
}

interface Route {
  readonly method: 'GET' | 'PUT' | 'POST'
  /** Segments; `*` matches one. */
  readonly path: readonly string[]
  readonly serve: (visit: Visit) => Promise<void> | void
}

/** Routes for which a caller must be known. Source: W1. */
const ROUTES: readonly Route[] = [
  { method: 'GET', path: ['metrics'], serve: serveMetrics },
  { method: 'PUT', path: ['v1', 'artifacts'], serve: serveUpload },
  {
    method: 'GET',
    path: ['v1', 'artifacts', '*'],
    serve: ({ parts, rest, response }) => getArtifact(parts, rest[0]!, response),
  },
  { method: 'POST', path: ['v1', 'command', '*'], serve: serveCommand },
  { method: 'GET', path: ['v1', 'sessions', '*', 'transcript'], serve: serveTranscript },
]

/** Serves one HTTP request: address, probes, credential, route, in this order. Never rejects. Source: W1, Z4. */
export async function serveRequest(
  parts: TransportParts,
  lists: GateLists,
  connection: HttpConnection,
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { request, response } = exchange
  try {
    if (!isAddressedHere(lists, request)) return refuseAddress(parts, lists, exchange)
    const { segments, query } = readTarget(request)
    if (serveProbe(parts, segments, query, exchange)) return
    const visitor = identify(parts, lists, readBearer(request))
    if (!visitor) {
      parts.metrics.refusedRequestsTotal.add('401')
      return refuseAndClose(response, 'unauthorized')
    }
    connection.stay.admit()
    await serveRoute({ parts, request, response, visitor, connection, rest: segments, query })
  } catch (error) {
    if (response.headersSent || response.destroyed) return void response.destroy()
    parts.logger.error({ err: error, code: 'internal_failure' }, 'a request failed')
    refuseAndClose(response, 'internal_failure')
  }
}

function refuseAddress(
  parts: TransportParts,
  lists: GateLists,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): void {
  const target = redirectTarget(lists, request)
  if (target !== undefined) return void response.writeHead(307, { location: target, connection: 'close' }).end()
  parts.metrics.refusedRequestsTotal.add('403')
  refuseAndClose(response, 'unauthorized', 403)
}

function readTarget(request: IncomingMessage): { segments: readonly string[]; query: URLSearchParams } {
  const [path = '', search = ''] = splitOnce(request.url ?? '/', '?')
  const segments = path.split('/').slice(1).map(decodeSegment)
  return { segments, query: new URLSearchParams(search) }
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** An undecodable segment stays as it is and matches nothing. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Probes are open to anyone who can reach the port and tell nothing but the state. Source: Z8. */
function serveProbe(
  { host }: TransportParts,
  segments: readonly string[],
  query: URLSearchParams,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): boolean {
  const name = segments.length === 1 ? segments[0] : undefined
  if (name !== 'livez' && name !== 'readyz' && name !== 'healthz') return false
  if (request.method !== 'GET') refuseMethod(response, 'GET')
  else if (name === 'livez') answerText(response, 200, 'ok\n')
  else {
    const isReady = host.state === 'ready' && host.faults.every(fault => fault.sessionId !== undefined)
    const words = isReady ? host.state : host.readiness
    answerText(
      response,
      isReady ? 200 : 503,
      query.has('verbose') ? `${host.state}: ${host.readiness}\n` : `${words}\n`,
    )
  }
  return true
}

async function serveRoute(visit: Visit): Promise<void> {
  const matching = ROUTES.filter(route => matches(route.path, visit.rest))
  if (matching.length === 0) return refuse(visit.response, 'not_found')
  const route = matching.find(candidate => candidate.method === visit.request.method)
  if (!route) return refuseMethod(visit.response, matching.map(candidate => candidate.method).join(', '))
  const rest = visit.rest.filter((_, index) => route.path[index] === '*')
  if (!visit.connection.start()) return refuse(visit.response, 'rate_limited')
  try {
    await route.serve({ ...visit, rest })
  } finally {
    visit.connection.finish()
  }
}

function matches(path: readonly string[], segments: readonly string[]): boolean {
  return path.length === segments.length && path.every((part, index) => part === '*' || part === segments[index])
}

function refuseMethod(response: ServerResponse, allowed: string): void {
  response.setHeader('allow', allowed)
  refuse(response, 'invalid_request', 'this method is not served here', 405)
}

async function serveMetrics({ parts, response }: Visit): Promise<void> {
  answerText(response, 200, await parts.metrics.scrape(), parts.metrics.contentType)
}

async function serveUpload({ parts, request, response, visitor }: Visit): Promise<void> {
  if (visitor.scope !== 'full') return refuseAndClose(response, 'forbidden')
  await putArtifact(parts, request, response)
}

async function serveCommand(visit: Visit): Promise<void> {
  const { parts, request, response, rest } = visit
  const body = await readBody(request, parts.limits.commandFrameBytes)
  if (!body) return refuseAndClose(response, 'too_large')
  const input = readInput(body)
  if (!input) return refuse(response, 'invalid_request', 'the body must be a JSON object')
  await run(visit, rest[0]!, input)
}

async function serveTranscript(visit: Visit): Promise<void> {
  const { query, rest } = visit
  const before = query.get('before')
  await run(visit, 'transcript.page', {
    sessionId: rest[0]!,
    ...(before === null ? {} : { before: Number(before) }),
    limit: Number(query.get('limit') ?? LIMITS.transcriptPageEntries),
  })
}

async function run(visit: Visit, operation: string, input: Readonly<Record<string, unknown>>): Promise<void> {
  const { parts, response } = visit
  const caller = readCaller(visit)
  if (!caller) return refuse(response, 'invalid_request', 'x-headwater-surface or x-headwater-client is malformed')
  const reply = await parts.host.execute(operation, input, caller)
  parts.metrics.commandsTotal.add(countedName(operation), reply.ok ? 'ok' : reply.error.code)
  answerReply(response, reply)
}

/** Source: L1. Who sent a command over HTTP: what its headers say, else the client whose ticket it shows, else this connection. */
function readCaller({ request, visitor, connection }: Visit): Caller | undefined {
  const { 'x-headwater-surface': surface, 'x-headwater-client': client } = request.headers
  const known = visitor.entry?.actor ?? { surface: 'http', clientInstanceId: connection.id }
  const actor = ClientActor.safeParse({
    surface: surface ?? known.surface,
    clientInstanceId: client ?? known.clientInstanceId,
  })
  if (!actor.success) return undefined
  return { actor: actor.data, connectionId: visitor.entry?.connectionId ?? connection.id, scope: visitor.scope }
}

function readInput(body: Buffer): Record<string, unknown> | undefined {
  if (body.length === 0) return {}
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
