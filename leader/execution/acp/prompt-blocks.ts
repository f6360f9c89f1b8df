import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import type { Attachment, Quote } from '../../../schema/entities/content.ts'
import { truncateChars } from '../../../schema/text.ts'
import type { RunContext } from '../backend.ts'

const FILE_NAME_CHARS = 100

/** A private folder in which attachments that only the leader holds are laid down as files for an agent. */
export class AttachmentFolder {
  #path: Promise<string> | undefined
  #files = 0

  /** Writes a file that only this user can read; gives its path. */
  async put(name: string, bytes: Uint8Array): Promise<string> {
    this.#path ??= mkdtemp(join(tmpdir(), 'headwater-attachments-'))
    this.#files += 1
    const safeName = truncateChars(name.replace(/[^\p{L}\p{N}._-]/gu, '_'), FILE_NAME_CHARS)
    const path = join(await this.#path, `${this.#files}-${safeName}`)
    await writeFile(path, bytes, { mode: 0o600, flag: 'wx' })
    return path
  }

  async remove(): Promise<void> {
    const path = this.#path
    this.#path = undefined
    if (path !== undefined) await rm(await path, { recursive: true, force: true })
  }
}

/** A turn's input as an agent takes it: quotes and text as text, attachments as links to files. Source: C1. */
export async function readPrompt(run: RunContext, folder: AttachmentFolder): Promise<ContentBlock[]> {
  const { text, quotes = [], attachments = [] } = run.input
  const blocks: ContentBlock[] = quotes.map(quote => ({ type: 'text', text: quoteText(quote) }))
  blocks.push({ type: 'text', text })
  for (const attachment of attachments) blocks.push(await readAttachment(run, folder, attachment))
  return blocks
}

async function readAttachment(
  run: RunContext,
  folder: AttachmentFolder,
  attachment: Attachment,
): Promise<ContentBlock> {
  const { name, mimeType, bytes, ref } = attachment
  const link = (path: string): ContentBlock => {
    return { type: 'resource_link', uri: pathToFileURL(path).href, name, mimeType, size: bytes }
  }
  if ('path' in ref) return link(ref.path)
  const content = await run.readArtifact(ref.artifact)
  if (content === null) return { type: 'text', text: `[The attachment ${name} is not available.]` }
  return link(await folder.put(name, content))
}

function quoteText(quote: Quote): string {
  const lines = quote.text.split('\n').map(line => `> ${line}`)
  return [...(quote.label === undefined ? [] : [`${quote.label}:`]), ...lines].join('\n')
}
