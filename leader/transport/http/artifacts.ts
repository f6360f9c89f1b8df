import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DIGEST_PATTERN } from '../../../schema/ids.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { TransportParts } from '../parts.ts'
import { answerReply, attachmentHeaders, bodyPieces, refuse, refuseAndClose } from './answer.ts'

/** Stores the body as an artifact and answers its hash. Source: L5. */
export async function putArtifact(
  parts: TransportParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const maxBytes = parts.limits.artifactBytes
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuseAndClose(response, 'too_large')
  const mimeType = request.headers['content-type'] ?? 'application/octet-stream'
  if (mimeType.length > LIMITS.mimeTypeChars) return refuseAndClose(response, 'invalid_request')
  const body = new BoundedBody(request, maxBytes)
  try {
    const reply = await parts.host.putArtifact(body, mimeType)
    if (body.isTooLarge) return refuseAndClose(response, 'too_large')
    answerReply(response, reply)
  } catch (error) {
    if (body.isTooLarge) return refuseAndClose(response, 'too_large')
    throw error
  }
}

/** Streams an artifact as a download. Source: L5. */
export async function getArtifact(parts: TransportParts, hash: string, response: ServerResponse): Promise<void> {
  const artifact = DIGEST_PATTERN.test(hash) ? await parts.host.readArtifact(hash) : undefined
  if (!artifact) return refuse(response, 'not_found')
  response.writeHead(200, attachmentHeaders(artifact.mimeType, artifact.bytes))
  await pipeline(Readable.from(artifact.pieces), response)
}

/** A request body that ends with an error when it is over its bound, and remembers that. */
class BoundedBody implements AsyncIterable<Uint8Array> {
  readonly #request: IncomingMessage
  readonly #maxBytes: number
  isTooLarge = false

  constructor(request: IncomingMessage, maxBytes: number) {
    this.#request = request
    this.#maxBytes = maxBytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    let bytes = 0
    for await (const piece of bodyPieces(this.#request)) {
      bytes += piece.length
      if (bytes > this.#maxBytes) {
        this.isTooLarge = true
        throw new RangeError('the artifact is over its limit')
      }
      yield piece
    }
  }
}
