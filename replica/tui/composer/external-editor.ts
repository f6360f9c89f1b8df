import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { LIMITS } from '../../../schema/limits.ts'
import { withText, withTextBefore } from '../../view/composer/editor.ts'
import { bytesOf, expanded, type FoldedText, refolded } from '../../view/composer/folded-text.ts'
import type { App } from '../app/app-context.ts'
import type { DraftStore } from './draft-store.ts'
import { readPrivateFile } from './private-files.ts'

/** Lets the person write the draft in an editor of theirs. What goes wrong is told; the draft is as it was then. Source: experience 6.1. */
export async function writeInEditor({
  drafts,
  draftKey,
  app,
}: {
  readonly drafts: DraftStore
  readonly draftKey: string
  readonly app: App
}): Promise<void> {
  const before = drafts.get(draftKey).editor
  const command = editorCommand(app.options.env)
  try {
    const written = await inTemporaryFile(expanded(before), path =>
      app.lend(() => runEditor(command, path, app.options.env)),
    )
    const text = refolded(written, before)
    if (bytesOf(text) > LIMITS.composerBytes) throw new Error('what was written is too long for a draft')
    putWritten(drafts, draftKey, { before, text })
  } catch (error) {
    app.tell(`The editor (${command}): ${(error as Error).message}; the draft is as it was`, 'warn')
  }
}

/** What came back into the draft meanwhile stays. */
function putWritten(
  drafts: DraftStore,
  draftKey: string,
  { before, text }: { readonly before: FoldedText; readonly text: FoldedText },
): void {
  drafts.edit(draftKey, editor => (editor.text === before.text ? withText(editor, text) : withTextBefore(editor, text)))
}

/** The editor a person wants, with its arguments, as a shell reads it. */
export function editorCommand(env: Readonly<Record<string, string | undefined>>): string {
  return [env.VISUAL, env.EDITOR].find(command => command !== undefined && command.trim() !== '') ?? 'vi'
}

/** A text in a file that only its user can read, for as long as `use` takes; gives what the file holds then. */
async function inTemporaryFile(text: string, use: (path: string) => Promise<void>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'headwater-'))
  try {
    const path = join(folder, 'message.md')
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
    await use(path)
    const written = await readPrivateFile(path, LIMITS.composerBytes * 2)
    if (written === null) throw new Error('what was written cannot be read, or is too long')
    // Editors end the last line.
    return text.endsWith('\n') ? written : written.replace(/\r?\n$/, '')
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}

/** Runs the editor on the terminal until it ends; rejects when it cannot be started or says that it failed. */
function runEditor(command: string, path: string, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const isWindows = process.platform === 'win32'
  return new Promise((resolve, reject) => {
    const child = isWindows
      ? spawn(`${command} "${path}"`, { stdio: 'inherit', env, shell: true })
      : spawn('/bin/sh', ['-c', `${command} "$@"`, command, path], { stdio: 'inherit', env })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (code === 0) resolve()
      else if (code === 127) reject(new Error('there is no such program'))
      else reject(new Error(code === null ? `it was ended by ${signal}` : `it ended with ${code}`))
    })
  })
}
