import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { CommandBody, CommandContext, Outcome } from '../../context.ts'
import { badLine } from '../../exchange/read-lines.ts'
import { type FileItem, openSessionFile, type SessionFile } from '../../exchange/read-session-file.ts'
import { CliFailure, toFailure, usage } from '../../failure.ts'
import { chosenRoot } from '../../reach/here.ts'
import { type LeaderModule, loadLeader } from '../../reach/leader-module.ts'

/** How many items pass between two words about them. */
const PROGRESS_ITEMS = 256

/** `headwater import`: takes a session over into a root that no leader serves, or nothing of it. Source: D5. */
export const body: CommandBody = async (context, { args: [name = ''] }) => {
  const { flags, surroundings, notices } = context
  if (flags.url !== undefined) throw usage('A session is imported into a directory of this machine: use --root.')
  const pieces = name === '-' ? surroundings.stdin : createReadStream(resolve(surroundings.cwd, name))
  let file: SessionFile | undefined
  try {
    file = await openSessionFile(pieces)
    const { first } = file
    const items = watched(context, file)
    return imported(await inOwnedRoot(context, await loadLeader(), store => store.importSession(first, items)), first)
  } catch (error) {
    throw readable(error, name, file?.line ?? null)
  } finally {
    notices.progress('')
    if (name !== '-' && 'destroy' in pieces) pieces.destroy()
  }
}

type Store = Awaited<ReturnType<LeaderModule['openStore']>>
type Imported = Awaited<ReturnType<Store['importSession']>>

async function inOwnedRoot<T>(
  { flags, surroundings }: CommandContext,
  leader: LeaderModule,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const capability = await leader.resolveRoot({ path: chosenRoot(flags, surroundings) })
  const owner = await leader.tryAcquireRootOwner(capability)
  if (owner === undefined) {
    throw new CliFailure('root_owned', 'A leader serves this data root; a session is imported while none does.', {
      next: 'headwater stop, then the same again',
    })
  }
  try {
    const store = await leader.openStore(owner)
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  } finally {
    await owner.close()
  }
}

/** The items of a file, with a word now and then about how far it is. */
async function* watched({ notices }: CommandContext, file: SessionFile): AsyncGenerator<FileItem> {
  let items = 0
  for await (const item of file.items) {
    const { line } = file
    items += 1
    if (items % PROGRESS_ITEMS === 0) notices.progress(`importing … line ${line ?? items}`)
    yield item
  }
  notices.progress('importing … the last steps')
}

function imported(result: Imported, { hash }: SessionFile['first']): Outcome {
  const { kind, sessionId, revision, records, artifacts } = result
  const text =
    kind === 'present'
      ? `${sessionId}  is here already, at the same revision ${revision}; nothing was changed`
      : `${sessionId}  ${records} records, ${artifacts} artifacts`
  return { result: { kind, sessionId, revision, hash, records, artifacts }, text }
}

/** What the store refuses while it reads is the fault of the line it has got to. */
function readable(error: unknown, name: string, line: number | null): unknown {
  if (error instanceof CliFailure) return error
  if (error instanceof Error && 'syscall' in error && 'code' in error) {
    return new CliFailure('usage', `${name} cannot be read: ${error.message}`, {
      example: 'headwater import session.jsonl',
    })
  }
  const { code, message, detail } = toFailure(error)
  if (code !== 'invalid_request') return error
  if (line !== null) return badLine(line, message)
  return new CliFailure('invalid_request', `The file cannot be imported: ${message}. Nothing was.`, { detail })
}
