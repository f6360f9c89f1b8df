import { readFile } from 'node:fs/promises'

/** The text of a file of settings; `none` where there is no file. */
export type SettingsText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly message: string }

/** Reads a file of settings of at most so many bytes. Never throws. */
export async function readSettingsText(path: string, maxBytes: number): Promise<SettingsText> {
  try {
    const bytes = await readFile(path)
    return bytes.byteLength > maxBytes
      ? { kind: 'unreadable', message: `it is over ${maxBytes} bytes` }
      : { kind: 'text', text: bytes.toString('utf8').replace(/^\ufeff/, '') }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? { kind: 'none' }
      : { kind: 'unreadable', message: (error as Error).message }
  }
}
