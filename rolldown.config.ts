import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin, type RolldownOptions } from 'rolldown'

/** What a person who installs the package has anyway, and of which there must not be two. */
const EXTERNAL = [/^node:/, /^(yjs|lib0|y-protocols|y-websocket|ws)(\/|$)/]

/** Ink draws only the last frame where the environment says `CI`; whoever opens the terminal replica looks at it. */
const CI_CHECK = /[\\/]is-in-ci[\\/]index\.js$/
/** Where Ink talks to a debugger of React. */
const DEVTOOLS = /[\\/]ink[\\/]build[\\/]devtools\.js$/

/**
 * One file out of a program that uses Ink: it loads several times faster than what it is made of, and whoever installs the package does not
 * install Ink.
 */
export function terminalBundle(input: string, file: string): RolldownOptions {
  return {
    input,
    external: EXTERNAL,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [instead(CI_CHECK, 'export default false'), instead(DEVTOOLS, 'export {}'), licences()],
    checks: { pluginTimings: false },
    output: { file, format: 'esm', codeSplitting: false, comments: { legal: false } },
  }
}

export default defineConfig(terminalBundle('replica/tui/index.tsx', 'dist/replica/tui/index.js'))

/** Takes a text for the modules of this path. */
function instead(path: RegExp, text: string): Plugin {
  return { name: 'instead', load: { filter: { id: path }, handler: () => text } }
}

/** Beside the bundle, the licences of what is in it. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap(chunk => (chunk.type === 'chunk' ? chunk.moduleIds : []))
      const folders = [...new Set(modules.flatMap(id => packageFolder(id) ?? []))].sort()
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: folders.map(licenceOf).join('\n\n') })
    },
  }
}

function packageFolder(id: string): string | undefined {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find(entry => /^licen[cs]e(\.|$)/i.test(entry))
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim()
  return `${name} ${version}\n\n${text}`
}
