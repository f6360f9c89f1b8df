import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

/** A place in a text, both counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Something that is wrong with a file of settings, and where. */
export interface SettingsProblem extends Position {
  readonly message: string
}

/** A property of an object, with where its name stands. `properties` are those of its value, none unless that is an object. */
export interface JsoncProperty extends Position {
  readonly name: string
  readonly value: unknown
  readonly isObject: boolean
  properties(): readonly JsoncProperty[]
}

/** A JSON text with comments and commas at the ends. */
export interface JsoncText {
  /** Undefined for an empty text, and whatever could be read of a broken one. */
  readonly value: unknown
  /** Where it is broken first. */
  readonly broken?: SettingsProblem
  /** In their order; what stands there twice is there twice. */
  readonly properties: readonly JsoncProperty[]
}

/** Reads JSON with comments. Never throws. */
export function readJsonc(text: string): JsoncText {
  const positionOf = positionsIn(text)
  const errors: ParseError[] = []
  let root: Node | undefined
  try {
    root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  } catch {
    return { value: undefined, broken: { line: 1, column: 1, message: 'it is nested too deeply' }, properties: [] }
  }
  const [first] = errors
  return {
    value: root === undefined ? undefined : getNodeValue(root),
    ...(first === undefined
      ? {}
      : { broken: { ...positionOf(first.offset), message: wordsOf(printParseErrorCode(first.error)) } }),
    properties: root === undefined ? [] : propertiesOf(root, positionOf),
  }
}

function propertiesOf(node: Node, positionOf: (offset: number) => Position): readonly JsoncProperty[] {
  if (node.type !== 'object') return []
  return (node.children ?? []).flatMap(child => {
    const [name, value] = child.children ?? []
    if (name === undefined || value === undefined) return []
    return [
      {
        ...positionOf(name.offset),
        name: String(name.value),
        value: getNodeValue(value),
        isObject: value.type === 'object',
        properties: () => propertiesOf(value, positionOf),
      },
    ]
  })
}

function positionsIn(text: string): (offset: number) => Position {
  return offset => {
    const before = text.slice(0, offset)
    return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
  }
}

/** `PropertyNameExpected` as words. */
function wordsOf(code: string): string {
  return code.replace(/(?<=[a-z])[A-Z]/g, letter => ` ${letter.toLowerCase()}`).toLowerCase()
}
