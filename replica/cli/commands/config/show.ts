import type { CommandBody } from '../../context.ts'
import { readConfigFile } from '../../input/config.ts'
import { renderTable } from '../../output/table.ts'
import { effectivePlaces, effectiveSettings, type Origin } from './effective.ts'

/** `headwater config show`: what is in force and, with `--origin`, where it comes from. Source: experience 4.5. */
export const body: CommandBody = async (context, { options }) => {
  const file = await readConfigFile(context)
  const shown = [...effectivePlaces(context), ...effectiveSettings(file, context.surroundings.env)]
  const columns = [{ heading: 'NAME' }, { heading: 'VALUE', canShrink: true }]
  const text =
    options.origin === true
      ? renderTable(
          [...columns, { heading: 'FROM', canShrink: true }],
          shown.map(({ name, value, origin }) => [name, textOf(value), originText(origin)]),
          context.out.columns,
        )
      : renderTable(
          columns,
          shown.map(({ name, value }) => [name, textOf(value)]),
          context.out.columns,
        )
  return { result: { config: file.path, settings: shown }, text }
}

function textOf(value: unknown): string {
  if (value === null) return '-'
  return Array.isArray(value) ? value.join(', ') || '-' : String(value)
}

function originText(origin: Origin): string {
  switch (origin.kind) {
    case 'flag':
      return origin.name
    case 'env':
      return `$${origin.name}`
    case 'file':
      return `${origin.path}:${origin.line}:${origin.column}`
    case 'default':
      return 'default'
    default:
      return origin satisfies never
  }
}
