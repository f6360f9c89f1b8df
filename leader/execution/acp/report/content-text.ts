import { unifiedDiff } from './unified-diff.ts'

/** A JSON object from an agent, not yet known to be anything. */
export type Unknown = Readonly<Record<string, unknown>>

/** The value as an object, or null. */
export function asObject(value: unknown): Unknown | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Unknown) : null
}

/** The value as a string, or undefined. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A content block as text: text itself, what is embedded if it is text, else a bracketed name of what it is. */
export function blockText(value: unknown): string {
  const block = asObject(value)
  if (block === null) return ''
  switch (block.type) {
    case 'text':
      return asString(block.text) ?? ''
    case 'resource_link':
      return `[${asString(block.name) ?? 'link'}](${asString(block.uri) ?? ''})`
    case 'resource': {
      const resource = asObject(block.resource)
      return asString(resource?.text) ?? `[${asString(resource?.uri) ?? 'resource'}]`
    }
    case 'image':
    case 'audio':
      return `[${block.type} ${asString(block.mimeType) ?? ''}]`
    default:
      return ''
  }
}

/** The content of a tool call as one text; a change of a file as a unified diff. Undefined when there is none. */
export function toolContentText(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined
  const texts = content.map(toolItemText).filter(text => text !== '')
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** Raw input or output of a tool as text; undefined for nothing, for an empty object and for what cannot be written down. */
export function rawText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  try {
    const json = JSON.stringify(value, null, 2)
    return json === '{}' || json === '[]' ? undefined : json
  } catch {
    return undefined
  }
}

/** What a tool gave back: its `output` field where it is a text, as most agents do, else all of it. */
export function rawOutputText(value: unknown): string | undefined {
  return asString(asObject(value)?.output) ?? rawText(value)
}

function toolItemText(value: unknown): string {
  const item = asObject(value)
  if (item?.type === 'content') return blockText(item.content)
  if (item?.type === 'terminal') return `[terminal ${asString(item.terminalId) ?? ''}]`
  if (item?.type !== 'diff') return ''
  return unifiedDiff(asString(item.path) ?? 'file', asString(item.oldText) ?? '', asString(item.newText) ?? '')
}
