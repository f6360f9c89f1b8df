/** How a person named the data root or the leader, if they did. */
export interface Place {
  readonly root?: string
  readonly url?: string
}

/** Not the end of a path: a root may be called so too. */
const COMMAND = /(?<![\w/.-])headwater (?=[a-z])(?!\S+(?: \S+)? --help\b)/g

/** Text that names commands of ours, as they are typed to reach the root or the leader that this call was about. */
export function commandText(text: string, { root, url }: Place): string {
  if (root === undefined && url === undefined) return text
  const flag = url === undefined ? `--root ${quoted(root as string)}` : `--url ${quoted(url)}`
  return text.replace(COMMAND, `headwater ${flag.replaceAll('$', '$$$$')} `)
}

/** A word as a POSIX shell reads it back. */
function quoted(word: string): string {
  return /^[\w./~@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
