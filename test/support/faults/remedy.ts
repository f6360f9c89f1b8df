import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RootTemplate } from './template.ts'
import { type Told, tell } from './told.ts'

interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly next?: string
}

/** The checks of a diagnosis that failed. */
export function failedChecks({ value }: Told): readonly Check[] {
  const error = value.error as { detail?: { checks?: readonly Check[] } } | undefined
  return (error?.detail?.checks ?? []).filter(check => check.state === 'fail')
}

/** What a diagnosis, or a command that was refused, tells its reader to do, in order: commands, or files to put back. */
export function adviceIn(told: Told): readonly string[] {
  const checks = failedChecks(told)
  const words = checks.length > 0 ? checks.flatMap(({ text, next = '' }) => [next, text]) : [told.message ?? '']
  return [...new Set(words.flatMap(stepsIn))]
}

function stepsIn(text: string): readonly string[] {
  const commands = text.matchAll(
    /\bheadwater (doctor(?: --?[\w-]+| [\w-]+)*? --[\w-]+(?: (?!cuts|says)[\w-]+)*|restore\b)/g,
  )
  const isLost = /\bput the data root back from a backup\b/.test(text)
  const files = text.matchAll(/\b(put headwater\.\w+ back)\b/g)
  const permissions = text.matchAll(/\b(chmod -R u\+rwX) /g)
  return [...[...commands, ...files, ...permissions].map(match => String(match[1])), ...(isLost ? ['restore'] : [])]
}

/** Follows one piece of advice; gives what was told, or null where it cannot be followed. */
export async function follow(template: RootTemplate, advice: string): Promise<Told | null> {
  const [name, ...args] = advice.split(/\s+/)
  if (name === 'doctor') return await tell(template, '--yes', 'doctor', ...args)
  if (name === 'chmod') return allow(template)
  if (name === 'put') return putBack(template, args[0] ?? '')
  return name === 'restore' ? await restore(template) : null
}

/** Gives the root back to its user, as that user. */
function allow({ root, uid }: RootTemplate): Told {
  execFileSync('chmod', ['-R', 'u+rwX', root], uid === null ? {} : { uid, gid: uid })
  return { exit: '0', code: null, sentence: null, message: null, value: {} }
}

/** A file of the root as it was when the root was backed up. */
function putBack(template: RootTemplate, file: string): Told | null {
  const kept = join(template.stopped, file)
  if (!existsSync(kept)) return null
  copyFileSync(kept, join(template.root, file))
  return { exit: '0', code: null, sentence: null, message: null, value: {} }
}

/** Puts the root aside and a backup in its place. */
async function restore(template: RootTemplate): Promise<Told | null> {
  if (!existsSync(template.backup)) return null
  template.putAside()
  return await tell(template, '--yes', 'restore', template.backup)
}
