import type { PermissionRequest } from '../../../schema/entities/interaction.ts'

/** The option that refuses, or allows this once; undefined if the request offers none. */
export function permissionOption(request: PermissionRequest, what: 'deny' | 'allow-once'): string | undefined {
  const kinds = what === 'deny' ? (['reject_once', 'reject_always'] as const) : (['allow_once'] as const)
  for (const kind of kinds) {
    const option = request.options.find(each => each.kind === kind)
    if (option !== undefined) return option.optionId
  }
  return undefined
}

/** What was typed for a field, as the type its schema names; text where it does not fit, to be refused as that. */
export function fieldValue(type: unknown, text: string): unknown {
  if ((type === 'number' || type === 'integer') && text.trim() !== '' && Number.isFinite(Number(text)))
    return Number(text)
  if (type === 'boolean' && /^(true|yes|y)$/i.test(text)) return true
  if (type === 'boolean' && /^(false|no|n)$/i.test(text)) return false
  if (type === 'array') return text.split(',').map(each => each.trim())
  return text
}
