import { FileCache } from '../../../cache/node/file-cache.ts'
import { byteText } from '../../../view/byte-text.ts'
import type { CommandBody } from '../../context.ts'
import { copiesFolder } from '../../reach/copies.ts'

/** `headwater cache clear`: prints how much went. Source: O4. */
export const body: CommandBody = async ({ surroundings, notices }) => {
  const folder = copiesFolder(surroundings.env)
  const bytes = await new FileCache(folder).clear()
  notices.notice(bytes === 0 ? `no copies were kept in ${folder}` : `copies were removed from ${folder}`)
  return { result: { folder, bytes }, text: byteText(bytes) }
}
