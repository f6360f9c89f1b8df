import stripAnsi from 'strip-ansi'

/** C0 but tab and newline, DEL, C1: what is left of any sequence once its introducer is gone is plain text. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Embeddings, overrides and isolates reorder what stands around them; the plain marks LRM, RLM and ALM do not and stay. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * DCS, SOS, PM, APC and title strings whose payload holds sequences of its own (terminal multiplexers nest them). The end is optional, so that
 * one without an end is passed over once instead of being looked for again from each of its parts; it stays as it is.
 */
const NESTED_STRING =
  /(?:\u001b[PX^_k]|[\u0090\u0098\u009e\u009f])(?:\u001b\u001b|[^\u0018\u001a\u001b\u0080-\u009f])*(\u001b\\|\u009c)?/g

/** OSC under its 8-bit name, which strip-ansi passes over in a text without ESC. */
const C1_OSC = /\u009d[^\u0007\u0018\u001a\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)/g

/** A sequence that begins but does not end before the text does; its harmless half is dropped with it. */
const CUT_SEQUENCE = /(?:\u001b\[|\u009b)[0-?]*[ -/]*$|\u001b[ -/]*$/

/** An opened string sequence without its end: held back while text still streams, shown without its introducer otherwise. */
const OPEN_STRING = /(?:\u001b[\]PX^_k]|[\u0090\u0098\u009d-\u009f])[^\u0007\u0018\u001a\u001b\u0080-\u009f]*\u001b?$/

/** Longest unfinished sequence that a stream holds back; beyond it the text is shown. Unit: UTF-16 units. */
const HELD_CHARS = 4096

/**
 * The text as a terminal may show it: no control character but newline and tab, no escape sequence, no bidi override.
 * Whatever the input, the result cannot move the cursor, recolour, retitle, link, answer or reorder. Source: Z6.
 */
export function terminalText(text: string): string {
  return withoutSequences(text).replace(CUT_SEQUENCE, '').replace(CONTROLS, '').replace(BIDI, '')
}

/** One line of `terminalText`: newlines and tabs become spaces, so that a value cannot leave its table cell. */
export function terminalLine(text: string): string {
  return terminalText(text).replace(/[\n\t\u2028\u2029]+/g, ' ')
}

function withoutSequences(text: string): string {
  return stripAnsi(withoutNested(text, '').replace(C1_OSC, ''))
}

/** The text with each unit of a nested string replaced. */
function withoutNested(text: string, by: string): string {
  return text.replace(NESTED_STRING, (all: string, end: string | undefined) =>
    end === undefined ? all : by.repeat(all.length),
  )
}

/** `JSON.stringify` whose strings are free of raw control and bidi characters, so that JSON on a terminal is inert too. Source: Z6. */
export function inertJson(value: unknown): string {
  return inertJsonText(JSON.stringify(value))
}

/** The same of a JSON text that is there already. Source: Z6. */
export function inertJsonText(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** `terminalText` for text that arrives in pieces: a sequence split over two pieces is recognised as one. */
export interface TerminalStream {
  push(piece: string): string
  /** What was held back, once it is known that nothing follows. */
  end(): string
}

/** Starts a stream; it holds back at most `HELD_CHARS`. Source: Z6. */
export function createTerminalStream(): TerminalStream {
  let held = ''
  return {
    push(piece) {
      const text = held + piece
      const cut = unfinishedAt(text)
      held = text.slice(cut)
      return terminalText(text.slice(0, cut))
    },
    end() {
      const rest = terminalText(held)
      held = ''
      return rest
    },
  }
}

/** Where an unfinished sequence or half a surrogate pair begins, or the end of the text. */
function unfinishedAt(text: string): number {
  const from = Math.max(0, text.length - HELD_CHARS)
  const tail = text.slice(from)
  const rest = withoutNested(tail, ' ')
  const cut = OPEN_STRING.exec(rest)?.index ?? CUT_SEQUENCE.exec(rest)?.index
  if (cut !== undefined) return from + cut
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800 ? text.length - 1 : text.length
}
