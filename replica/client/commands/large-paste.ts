import type { Content } from '../../../schema/entities/content.ts'
import { DIGEST_PATTERN } from '../../../schema/ids.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { truncateBytes, truncateChars, utf8Bytes } from '../../../schema/text.ts'
import { toHex } from '../link/base64url.ts'
import type { LinkedLeader } from '../link/link.ts'
import { operationError, readWireError } from './errors.ts'

/** Stores bytes at the leader and gives their digest. */
export type Upload = (bytes: Uint8Array, mimeType: string) => Promise<string>

const MIME_TYPE = 'text/plain; charset=utf-8'
const PREVIEW_CHARS = 80

/** True for content whose text is over the limit of a message; anything else is for the schema to judge. */
export function isLargePaste(content: unknown): content is Content {
  const text = (content as { text?: unknown } | null | undefined)?.text
  return typeof text === 'string' && utf8Bytes(text.toWellFormed()) > LIMITS.messageTextBytes
}

/**
 * Content whose text is over the limit of a message, as content that fits: the whole text becomes an attachment named
 * `pasted-text-<first 8 hex of its digest>.txt`, `text` keeps its beginning and says so, and `displayText` (where the sender gave none)
 * says what screens show. The same text gives the same content, so a retry keeps its identity. Any other content is returned as it is.
 * Everyone who reads the session sees the attachment. Source: C1, C3.
 */
export async function withLargePaste(content: Content, upload: Upload): Promise<Content> {
  if (!isLargePaste(content)) return content
  const text = content.text.toWellFormed()
  const bytes = utf8Bytes(text)
  if (bytes > LIMITS.artifactBytes) throw operationError('too_large')
  const artifact = await upload(new TextEncoder().encode(text), MIME_TYPE)
  const name = `pasted-text-${artifact.slice('sha256:'.length, 'sha256:'.length + 8)}.txt`
  const attachment = { kind: 'file' as const, name, mimeType: MIME_TYPE, bytes, ref: { artifact } }
  const beginning = truncateBytes(text, LIMITS.artifactPreviewBytes)
  return {
    ...content,
    text: `${beginning}\n\n[The whole text, ${bytes} bytes, is in the attachment ${name}.]`,
    displayText: content.displayText ?? `Pasted text (${bytes} bytes): ${truncateChars(text, PREVIEW_CHARS)}…`,
    attachments: [...(content.attachments ?? []), attachment],
  }
}

/** Uploads through the leader's `PUT /v1/artifacts`, with the connection's ticket. Source: C1, Z3. */
export function uploadTo(leader: LinkedLeader): Upload {
  return async (body, mimeType) => {
    const answer = await leader.endpoint
      .http({
        method: 'PUT',
        path: '/v1/artifacts',
        headers: { authorization: `Bearer ${leader.accepted.ticket}`, 'content-type': mimeType },
        body,
      })
      .catch(() => {
        throw operationError('offline')
      })
    return readAnswer(answer.body, body)
  }
}

async function readAnswer(text: string, sent: Uint8Array): Promise<string> {
  let answer: {
    ok?: boolean
    result?: { hash?: unknown }
    error?: { code?: string; message?: string; detail?: unknown }
  }
  try {
    answer = JSON.parse(text)
  } catch {
    throw operationError('internal_failure')
  }
  const hash = answer.result?.hash
  if (answer.ok === true && typeof hash === 'string' && DIGEST_PATTERN.test(hash)) {
    const digest = await crypto.subtle.digest('SHA-256', sent as Uint8Array<ArrayBuffer>)
    if (hash === `sha256:${toHex(new Uint8Array(digest))}`) return hash
  }
  throw readWireError(answer.error)
}
