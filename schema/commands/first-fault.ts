import type * as z from 'zod/mini'

/** Where and why a value does not fit its schema. `path` is written `content.attachments[0].name`; empty for the value itself. */
export interface SchemaFault {
  readonly path: string
  readonly message: string
}

type Issue = z.core.$ZodIssue

/** The first fault of a value: what a refusal names. Source: W2. */
export function firstFault(issues: readonly Issue[]): SchemaFault {
  const [issue] = issues
  if (issue === undefined) return { path: '', message: 'does not fit its schema' }
  if (issue.code === 'invalid_union') return unionFault(issue)
  const keys = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
  return { path: pathText(keys), message: messageOf(issue) }
}

/** Of a union without a matching form: the first fault of its first form, below the union's own path. */
function unionFault(issue: Extract<Issue, { code: 'invalid_union' }>): SchemaFault {
  const [form] = issue.errors
  const [inner] = form ?? []
  if (inner !== undefined) return firstFault([{ ...inner, path: [...issue.path, ...inner.path] }])
  const options = (issue as { options?: readonly unknown[] }).options ?? []
  return { path: pathText(issue.path), message: options.length === 0 ? 'does not fit' : oneOf(options) }
}

function messageOf(issue: Exclude<Issue, { code: 'invalid_union' }>): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'is not a known key'
    case 'invalid_type':
      return `must be a value of type ${issue.expected}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_format':
      return `must match ${issue.pattern ?? issue.format}`
    case 'too_small':
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`
    default:
      return issue.message
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be one of ${values.map(value => JSON.stringify(value)).join(', ')}`
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long'
  return origin === 'array' ? ' items long' : ''
}

function pathText(keys: readonly PropertyKey[]): string {
  let text = ''
  for (const key of keys) text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`
  return text
}
