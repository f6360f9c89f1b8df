import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { utf8Bytes } from '../text.ts'
import { bytes, Count, chars, Digest, EntityId } from './primitives.ts'

const isAbsolute = (path: string): boolean => path.startsWith('/') || /^[A-Za-z]:[\\/]|^\\\\/.test(path)

/** An absolute path on the leader's machine; it need not exist. */
export const AbsolutePath = bytes(LIMITS.pathBytes, 1).check(z.refine(isAbsolute, 'must be an absolute path'))

/** A file by reference: an artifact the leader holds, or a path that is not checked. Source: C1. */
export const Attachment = z.strictObject({
  kind: z.enum(['file', 'image']),
  name: chars(LIMITS.fileNameChars),
  mimeType: chars(LIMITS.mimeTypeChars),
  bytes: Count,
  ref: z.union([z.strictObject({ artifact: Digest }), z.strictObject({ path: AbsolutePath })]),
})
export type Attachment = z.infer<typeof Attachment>

/** A passage the message refers to. Source: C1. */
export const Quote = z.strictObject({
  text: chars(LIMITS.quoteTextChars),
  label: z.optional(chars(LIMITS.quoteLabelChars)),
  sourceTurnId: z.optional(EntityId),
})
export type Quote = z.infer<typeof Quote>

/**
 * What a person sends: `text` non-empty; `displayText` what screens show instead; attachments and quotes in the sender's order,
 * which is part of its identity. Source: C1, C2.
 */
export const Content = z
  .strictObject({
    text: bytes(LIMITS.messageTextBytes, 1),
    displayText: z.optional(bytes(LIMITS.messageTextBytes)),
    attachments: z.optional(z.array(Attachment).check(z.maxLength(LIMITS.attachmentsPerMessage))),
    quotes: z.optional(z.array(Quote).check(z.maxLength(LIMITS.quotesPerMessage))),
  })
  .check(
    z.refine(
      content => utf8Bytes(JSON.stringify(content)) <= LIMITS.messageContentBytes,
      `must be at most ${LIMITS.messageContentBytes} bytes as JSON`,
    ),
  )
export type Content = z.infer<typeof Content>
