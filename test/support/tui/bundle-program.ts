import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { terminalBundle } from '../../../rolldown.config.ts'
import { PROJECT } from '../source-files.ts'

/** Bundles a program that draws on the terminal, in the way the product is bundled, and gives the file to run. */
export async function bundleProgram(source: string, directory: string): Promise<string> {
  const file = join(directory, 'program.mjs')
  const { output, ...input } = terminalBundle(join(PROJECT, source), file)
  const bundle = await rolldown(input)
  if (output === undefined || Array.isArray(output)) throw new Error('a bundle is one file')
  await bundle.write(output)
  await bundle.close()
  return file
}
