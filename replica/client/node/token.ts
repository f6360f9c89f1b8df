import { open } from 'node:fs/promises'
import process from 'node:process'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'

const OTHERS = 0o077

/**
 * The key in a token file, without the line end. Throws `unauthorized`, saying why, for a file that is missing, empty, too long, or that
 * other users may read. Source: Z2.
 */
export async function readTokenFile(path: string): Promise<string> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw refusal(path, `cannot be read (${error.code})`)
  })
  try {
    const { mode } = await file.stat()
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
      throw refusal(path, 'may be read by other users; chmod 600')
    const buffer = Buffer.alloc(LIMITS.tokenFileBytes + 1)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    const token = buffer.toString('utf8', 0, bytesRead).trim()
    if (token === '' || bytesRead > LIMITS.tokenFileBytes) throw refusal(path, 'holds no token')
    return token
  } finally {
    await file.close()
  }
}

function refusal(path: string, why: string): HeadwaterError {
  return new HeadwaterError('unauthorized', `The token file ${path} ${why}.`, { path })
}
