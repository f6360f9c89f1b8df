import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RootTemplate } from './template.ts'
import { type Told, tell } from './told.ts'

interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly next?: string
}

/** The checks of a diagnosis that failed. */
export function failedChecks({ value }: Told): readonly Check[] {
  const error = value.error as { detail?: { checks?: readonly Check[] } } | undefined
  return (error?.detail?.checks ?? []).filter(check => check.state === 'fail')
}

/** Commands that a diagnosis tells its reader to run, in order, without the name of the program. */
export function commandsIn(told: Told): readonly string[] {
  const found = failedChecks(told).flatMap(({ next = '' }) =>
    [...next.matchAll(/\bheadwater (doctor(?: --?[\w-]+| [\w-]+)+|restore\b)/g)].map(match => String(match[1])),
  )
  return [...new Set(found)]
}

/** Follows one piece of advice; gives what was told, or null where it cannot be followed. */
export async function follow(template: RootTemplate, command: string): Promise<Told | null> {
  const [name, ...args] = command.split(/\s+/)
  if (name === 'doctor') return await tell(template, '--yes', 'doctor', ...args)
  return name === 'restore' ? await restore(template) : null
}

/** Puts the root aside and a backup in its place. */
async function restore(template: RootTemplate): Promise<Told | null> {
  if (!existsSync(join(template.backup))) return null
  template.putAside()
  return await tell(template, '--yes', 'restore', template.backup)
}
