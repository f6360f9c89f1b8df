/**
 * The value as a document can hold it: a plain JSON tree without undefined members, every string well-formed. Parts that need no change are
 * returned as they are, so a clean record costs one walk and no copy.
 * Throws a TypeError for what JSON cannot hold: it runs before a transaction, where a throw is still harmless. Source: A3, C3.
 */
export function plainRecord(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed()
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return value
      break
    case 'object':
      if (value === null) return null
      if (Array.isArray(value)) return plainList(value)
      return plainObject(value as Record<string, unknown>)
  }
  throw new TypeError(`a document holds JSON only, not ${String(value)} (${typeof value})`)
}

function plainList(list: readonly unknown[]): readonly unknown[] {
  let changed: unknown[] | undefined
  for (let i = 0; i < list.length; i++) {
    const item = list[i] === undefined ? null : plainRecord(list[i])
    if (item !== list[i]) {
      changed ??= list.slice()
      changed[i] = item
    }
  }
  return changed ?? list
}

function plainObject(object: Record<string, unknown>): Record<string, unknown> {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('a document holds plain objects only')
  // Yjs tells JSON by `value.constructor`, which an object without a prototype does not have.
  let changed: Record<string, unknown> | undefined = prototype === null ? { ...object } : undefined
  for (const key in object) {
    const member = object[key]
    if (member === undefined) {
      changed ??= { ...object }
      delete changed[key]
      continue
    }
    const plain = plainRecord(member)
    if (plain !== member) {
      changed ??= { ...object }
      changed[key] = plain
    }
  }
  return changed ?? object
}
