import { createInterface } from 'node:readline'
import { tryAcquireRootOwner } from '../../../leader/log/root/owner.ts'
import { tryAcquireRootReader } from '../../../leader/log/root/reader.ts'
import { resolveRoot } from '../../../leader/log/root/resolve.ts'
import { isHeadwaterError } from '../../../schema/errors.ts'

/**
 * A process that takes a root and holds it: `holder.ts PATH owner|reader`. Prints one JSON line when it knows what it got, and one
 * for each line on stdin: `prove`, `close`. Ends when stdin does.
 */
const [path = '', purpose = 'owner'] = process.argv.slice(2)

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

async function acquire() {
  const capability = await resolveRoot({ path })
  const got = await (purpose === 'owner' ? tryAcquireRootOwner(capability) : tryAcquireRootReader(capability))
  print({ got: got !== undefined, rootId: capability.rootId })
  return got
}

const held = await acquire().catch(error => {
  print({ code: isHeadwaterError(error) ? error.code : String(error), message: String(error?.message) })
  return undefined
})
for await (const line of createInterface({ input: process.stdin })) {
  try {
    if (line === 'prove' && held !== undefined && 'prove' in held) held.prove()
    if (line === 'close') await held?.close()
    print({ done: line })
  } catch (error) {
    print({ code: isHeadwaterError(error) ? error.code : String(error) })
  }
}
