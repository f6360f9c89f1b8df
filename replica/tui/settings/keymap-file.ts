import { join, resolve } from 'node:path'
import { LIMITS } from '../../../schema/limits.ts'
import { readJsonc } from '../../settings/jsonc.ts'
import { readSettingsText } from '../../settings/settings-text.ts'
import type { KeyOverrides } from '../../view/keymap/key-table.ts'
import { readBindings, type WrittenBinding } from '../../view/keymap/overrides.ts'
import { type FileWatch, watchFile } from './watch-file.ts'

/** What `keymap.jsonc` changes about the keys, and what is wrong with it, in sentences for the status line. */
export interface Keymap {
  readonly overrides: KeyOverrides
  readonly problems: readonly string[]
}

const NAME = 'keymap.jsonc'

/** Where the keys of a person are: `$HEADWATER_KEYMAP`, else beside `config.jsonc`. Source: experience 4.4, 4.5. */
export function keymapPath(config: string, { HEADWATER_KEYMAP }: Readonly<Record<string, string | undefined>>): string {
  return HEADWATER_KEYMAP !== undefined && HEADWATER_KEYMAP !== '' ? resolve(HEADWATER_KEYMAP) : join(config, NAME)
}

/**
 * Reads `{ "composer": { "ctrl+s": "queue.steer", "ctrl+x": null } }`. What cannot be used is left out and named; a broken text changes nothing.
 * Source: experience 7.2.
 */
export function readKeymap(text: string): Keymap {
  const { value, broken, properties } = readJsonc(text)
  if (broken !== undefined) return unusable(`${NAME}:${broken.line}:${broken.column}: ${broken.message}`)
  if (value === undefined) return { overrides: {}, problems: [] }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unusable(`${NAME}: it must be an object`)
  const written: WrittenBinding[] = []
  const problems: string[] = []
  for (const context of properties) {
    if (context.name === '$schema') continue
    if (!context.isObject) {
      problems.push(`${NAME}:${context.line}:${context.column}: "${context.name}" needs an object of keys`)
      continue
    }
    for (const { name, value: action, line, column } of context.properties()) {
      written.push({ context: context.name, key: name, action, line, column })
    }
  }
  const read = readBindings(written)
  problems.push(...read.problems.map(({ line, column, message }) => `${NAME}:${line}:${column}: ${message}`))
  return { overrides: read.overrides, problems: problems.slice(0, LIMITS.settingsProblems) }
}

/** Reads the file now and after each change, until closed. A file that is not there changes nothing. Source: experience 7.2. */
export function followKeymap(path: string, onKeymap: (keymap: Keymap) => void): FileWatch {
  let last: string | undefined
  return watchFile(path, async isCurrent => {
    const read = await readSettingsText(path, LIMITS.keymapBytes)
    if (!isCurrent()) return
    const seen = JSON.stringify(read)
    if (seen === last) return
    last = seen
    if (read.kind === 'none') onKeymap({ overrides: {}, problems: [] })
    else onKeymap(read.kind === 'text' ? readKeymap(read.text) : unusable(`${NAME}: ${read.message}`))
  })
}

function unusable(problem: string): Keymap {
  return { overrides: {}, problems: [problem] }
}
