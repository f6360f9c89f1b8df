const CONTEXT_LINES = 3

/**
 * The change of a file as unified text with one hunk: equal lines at both ends are left out but for three of context. What lies between
 * two changes is shown as removed and added again; a shortest diff is not worth its cost here.
 */
export function unifiedDiff(path: string, oldText: string, newText: string): string {
  const before = splitLines(oldText)
  const after = splitLines(newText)
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const from = Math.max(0, start - CONTEXT_LINES)
  const beforeEnd = before.length - end
  const trailing = before.slice(beforeEnd, beforeEnd + CONTEXT_LINES)
  const beforeCount = beforeEnd + trailing.length - from
  const afterCount = after.length - end + trailing.length - from
  const lines = [
    `--- ${path}`,
    `+++ ${path}`,
    `@@ -${range(from, beforeCount)} +${range(from, afterCount)} @@`,
    ...before.slice(from, start).map(line => ` ${line}`),
    ...before.slice(start, beforeEnd).map(line => `-${line}`),
    ...after.slice(start, after.length - end).map(line => `+${line}`),
    ...trailing.map(line => ` ${line}`),
  ]
  return lines.join('\n')
}

function range(from: number, count: number): string {
  return `${count === 0 ? from : from + 1},${count}`
}

function splitLines(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
