/** What the unknown ids of the model turned out to be. */
export type Bindings = Map<string, string>

/** Stands for any value. */
export const ANYTHING = '?anything'

const isUnknown = (value: unknown): value is string => typeof value === 'string' && value.startsWith('?')

/**
 * Where an observed value first differs from the expected one, as a path with both values; null where they are equal. An unknown id of
 * the expected value stands for any string, but for the same one everywhere, and two of them never for one.
 */
export function difference(expected: unknown, observed: unknown, bindings: Bindings, path = ''): string | null {
  if (expected === ANYTHING) return null
  if (isUnknown(expected) && typeof observed === 'string') return bind(expected, observed, bindings, path)
  if (expected === null || typeof expected !== 'object' || observed === null || typeof observed !== 'object') {
    return Object.is(expected, observed) ? null : told(path, expected, observed)
  }
  if (Array.isArray(expected) !== Array.isArray(observed)) return told(path, expected, observed)
  const [wanted, seen] = [expected, observed] as [Record<string, unknown>, Record<string, unknown>]
  const keys = new Set([...Object.keys(wanted), ...Object.keys(seen)])
  for (const key of keys) {
    const found = difference(wanted[key], seen[key], bindings, path === '' ? key : `${path}.${key}`)
    if (found !== null) return found
  }
  return null
}

function bind(unknown: string, observed: string, bindings: Bindings, path: string): string | null {
  const known = bindings.get(unknown)
  if (known !== undefined) return known === observed ? null : told(path, known, observed)
  // Ids of events are unique within their session only.
  for (const [name, other] of unknown.startsWith('?event') ? [] : bindings) {
    if (other === observed && !name.startsWith('?event')) return `${path}: ${observed} is the id of something else too`
  }
  bindings.set(unknown, observed)
  return null
}

function told(path: string, expected: unknown, observed: unknown): string {
  return `${path}: expected ${text(expected)}, observed ${text(observed)}`
}

const text = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300)

/** The value with every unknown id replaced that has become known. */
export function withBindings<T>(value: T, bindings: Bindings): T {
  if (typeof value === 'string') return (bindings.get(value) ?? value) as T
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(member => withBindings(member, bindings)) as T
  const out: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) out[bindings.get(key) ?? key] = withBindings(member, bindings)
  return out as T
}
