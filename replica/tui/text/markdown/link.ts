import { LIMITS } from '../../../../schema/limits.ts'

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:'])

/** Where a link leads: what the terminal may open, and what a reader is told of it. */
export interface Target {
  /** An address in plain ASCII of http, https or mailto; null for anything else. */
  readonly href: string | null
  /** The host, or the whole target where it is no such address; '' where the text of the link says it already. */
  readonly told: string
}

/** What is told of a link, so that a text cannot pass for another address. Source: experience 6.5, Z6. */
export function targetOf(href: string, text: string): Target {
  const url = href.length > LIMITS.linkChars ? null : parse(href)
  if (url === null) return { href: null, told: href === text || href === '' ? '' : href }
  const isSaid = [href, href.replace(/^(?:https?:\/\/|mailto:)/, ''), url.href].some(each => each === text)
  return { href: url.href, told: isSaid ? '' : url.protocol === 'mailto:' ? url.pathname : url.host }
}

function parse(href: string): URL | null {
  if (!URL.canParse(href)) return null
  const url = new URL(href)
  return SCHEMES.has(url.protocol) && url.href.length <= LIMITS.linkChars && /^[\x21-\x7e]+$/.test(url.href)
    ? url
    : null
}
