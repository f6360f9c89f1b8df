import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { HeadwaterError } from '../../../schema/errors.ts'
import { createFile, replaceFile } from './atomic-file.ts'
import { ROOT_NAMES, readBounded } from './marker.ts'

const TOKEN = /^[A-Za-z0-9_-]{43}$/
const TOKEN_CHARS = 43

/** Makes the root token, 256 random bits in a 0600 file, unless there is one. Source: Z2. */
export async function createRootToken(directory: string): Promise<void> {
  await createFile(join(directory, ROOT_NAMES.token), `${randomBytes(32).toString('base64url')}\n`, 0o600)
}

/** Puts a new root token in the old one's place; durable when it resolves. Source: R2, Z2. */
export async function replaceRootToken(directory: string): Promise<void> {
  await replaceFile(join(directory, ROOT_NAMES.token), `${randomBytes(32).toString('base64url')}\n`, 0o600)
}

/** The root token: 32 bytes, base64url without padding. Throws `storage_fault` if its file is missing or damaged. Source: Z2. */
export async function readRootToken(capability: { readonly path: string }): Promise<string> {
  const path = join(capability.path, ROOT_NAMES.token)
  const text = await readBounded(path, TOKEN_CHARS + 2)
  const token = text?.trimEnd()
  if (token !== undefined && TOKEN.test(token)) return token
  const what = text === undefined ? 'missing' : 'damaged'
  throw new HeadwaterError('storage_fault', `The root token ${path} is ${what}.`, { path, kind: `token_${what}` })
}
