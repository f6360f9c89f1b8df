import { resolve } from 'node:path'
import { byteText } from '../../../view/byte-text.ts'
import type { CommandBody } from '../../context.ts'
import { usage } from '../../failure.ts'
import { counts } from '../../output/counts.ts'
import { chosenRoot } from '../../reach/here.ts'
import { loadLeader } from '../../reach/leader-module.ts'

/** `headwater restore`: puts a backup back into a root that is missing or empty. Source: D3. */
export const body: CommandBody = async (context, { args: [directory = ''], options }) => {
  const { flags, surroundings, notices } = context
  if (flags.url !== undefined) throw usage('A backup is put back into a directory of this machine: use --root.')
  const leader = await loadLeader()
  try {
    const { path, rootId, note } = await leader.restoreRoot({
      backup: resolve(surroundings.cwd, directory),
      root: chosenRoot(flags, surroundings),
      isCopy: options.asCopy === true,
      onProgress: ({ records, bytes }) => notices.progress(`restoring … ${records} rows, ${byteText(bytes)}`),
    })
    const { createdAt, sessions, records } = note
    const result = { path, rootId, isCopy: rootId !== note.rootId, createdAt, sessions, records }
    const made = new Date(createdAt).toISOString()
    return {
      result,
      text: `${path}  ${counts(sessions, 'session')}, ${counts(records, 'row')}, as they were at ${made}`,
    }
  } finally {
    notices.progress('')
  }
}
