import { StringDecoder } from 'node:string_decoder'
import { LIMITS } from '../../../schema/limits.ts'
import { CliFailure } from '../failure.ts'

/** A line of a file, and its number from 1. */
export interface NumberedLine {
  readonly number: number
  readonly text: string
}

/** A file that cannot be taken, by line and reason. */
export function badLine(number: number, reason: string, detail: object = {}): CliFailure {
  return new CliFailure('invalid_request', `Line ${number}: ${reason}. Nothing was imported.`, {
    detail: { line: number, reason, ...detail },
    next: 'headwater export ID -o FILE writes what can be imported',
  })
}

/** The lines of a stream, each bounded; empty ones are passed over. Throws `invalid_request` for a line that is too long. */
export async function* readLines(pieces: AsyncIterable<Uint8Array | string>): AsyncGenerator<NumberedLine> {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let chars = 0
  let number = 0
  const end = (last: string): NumberedLine => {
    const text = [...parts, last].join('')
    parts = []
    chars = 0
    number += 1
    return { number, text: text.endsWith('\r') ? text.slice(0, -1) : text }
  }
  for await (const piece of pieces) {
    const lines = (typeof piece === 'string' ? piece : decoder.write(Buffer.from(piece))).split('\n')
    const rest = lines.pop() ?? ''
    for (const part of lines) {
      const line = end(part)
      if (line.text.trim() !== '') yield line
    }
    parts.push(rest)
    chars += rest.length
    if (chars > LIMITS.exportLineBytes) throw badLine(number + 1, 'it is too long')
  }
  const line = end(decoder.end())
  if (line.text.trim() !== '') yield line
}
