import { LIMITS } from '../../schema/limits.ts'
import { nearest } from '../view/nearest.ts'
import { type JsoncProperty, type Position, readJsonc, type SettingsProblem } from './jsonc.ts'
import { misfit, SETTING_NAMES, type SettingName } from './setting-table.ts'

/** A value that was given, and where. */
export interface GivenValue extends Position {
  readonly value: unknown
}

/** Something wrong with the settings: `broken` the whole text, `unknown` a key, `invalid` the value of the setting `name`. */
export interface SettingFault extends SettingsProblem {
  readonly kind: 'broken' | 'unknown' | 'invalid'
  readonly name?: SettingName
}

/** The settings of a text. Only values that fit are given; of a broken text none. */
export interface GivenSettings {
  readonly values: Partial<Readonly<Record<SettingName, GivenValue>>>
  readonly faults: readonly SettingFault[]
}

/** Reads the text of `config.jsonc`. Never throws; unknown keys do no harm and are named. Source: experience 4.5. */
export function readSettings(text: string): GivenSettings {
  const { value, broken, properties } = readJsonc(text)
  if (broken !== undefined) return { values: {}, faults: [{ ...broken, kind: 'broken' }] }
  if (value === undefined) return { values: {}, faults: [] }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { values: {}, faults: [{ line: 1, column: 1, message: 'it must be an object', kind: 'broken' }] }
  }
  const reading: Reading = { values: {}, faults: [] }
  for (const property of properties) read(property, '', reading)
  return { values: reading.values, faults: reading.faults.slice(0, LIMITS.settingsProblems) }
}

interface Reading {
  readonly values: Partial<Record<SettingName, GivenValue>>
  readonly faults: SettingFault[]
}

function read(property: JsoncProperty, prefix: string, reading: Reading): void {
  const { line, column, value } = property
  const name = `${prefix}${property.name}`
  if (name === '$schema') return
  if (isSetting(name)) {
    const message = misfit(name, value)
    if (message === undefined) reading.values[name] = { value, line, column }
    else reading.faults.push({ line, column, message, kind: 'invalid', name })
    return
  }
  if (prefix === '' && isGroup(name)) {
    if (property.isObject) for (const inner of property.properties()) read(inner, `${name}.`, reading)
    else reading.faults.push({ line, column, message: `"${name}" must be an object`, kind: 'invalid' })
    return
  }
  const [near] = nearest(name, KNOWN)
  const meant = near === undefined ? '' : `; did you mean "${near}"?`
  reading.faults.push({ line, column, message: `unknown key "${name}"${meant}`, kind: 'unknown' })
}

const GROUPS = [...new Set(SETTING_NAMES.flatMap(name => (name.includes('.') ? [name.split('.')[0] as string] : [])))]
const KNOWN = [...SETTING_NAMES, ...GROUPS]

function isSetting(name: string): name is SettingName {
  return (SETTING_NAMES as readonly string[]).includes(name)
}

function isGroup(name: string): boolean {
  return GROUPS.includes(name)
}
