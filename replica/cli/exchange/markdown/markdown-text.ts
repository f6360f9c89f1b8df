/** Characters that mean something in Markdown wherever they stand in a line. */
const SPECIAL = /[\\`*_[\]<>|#~]/g

/** A text of one line that means itself, whatever characters it has. */
export function inline(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replace(SPECIAL, '\\$&')
}

/** A text as code, in a fence that no line of it ends. */
export function fenced(text: string, language = ''): string {
  const longest = [...text.matchAll(/`{3,}/g)].reduce((length, [run]) => Math.max(length, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

/** Markdown that ends what it begins: a fence that is left open would swallow all that follows. */
export function closed(text: string): string {
  let open: string | undefined
  for (const line of text.split('\n')) {
    const [, fence = '', rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (fence === '') continue
    if (open === undefined) open = fence.startsWith('`') && rest.includes('`') ? undefined : fence
    else if (fence[0] === open[0] && fence.length >= open.length && rest.trim() === '') open = undefined
  }
  return open === undefined ? text.trimEnd() : `${text.trimEnd()}\n${open}`
}

/** A short text as code within a line. */
export function code(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const longest = [...line.matchAll(/`+/g)].reduce((length, [run]) => Math.max(length, run.length), 0)
  const tick = '`'.repeat(longest + 1)
  const room = longest > 0 ? ' ' : ''
  return `${tick}${room}${line}${room}${tick}`
}

/** A text that is folded away until somebody opens it; it cannot close itself. */
export function folded(summary: string, text: string): string {
  const safe = text.replace(/<(?=\/?(?:details|summary)\b)/gi, '&lt;')
  return `<details>\n<summary>${summary}</summary>\n\n${closed(safe)}\n\n</details>`
}

/** Every line of a text as a quotation. */
export function quoted(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map(line => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}

/** A list item whose further lines belong to it. */
export function item(mark: string, text: string): string {
  return `${mark} ${text.trimEnd().replaceAll('\n', `\n${' '.repeat(mark.length + 1)}`)}`
}

/** An instant that is the same wherever it is read. */
export function instant(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
