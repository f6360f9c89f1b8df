import { join } from 'node:path'
import { VERSION } from '../../../schema/version.ts'
import type { TuiOptions } from '../../tui/options.ts'
import { keymapPath } from '../../tui/settings/keymap-file.ts'
import { readTuiSettings } from '../../tui/settings/tui-settings.ts'
import type { ColourDepth } from '../../tui/text/theme.ts'
import type { CommandBody, CommandContext, Terminal } from '../context.ts'
import { toFailure, usage } from '../failure.ts'
import { hasColour } from '../output/has-colour.ts'
import { openCopiesHere } from '../reach/copies.ts'
import { chooseBackend } from '../reach/created-session.ts'
import { chosenRoot, placesHere } from '../reach/here.ts'
import { connectOrSpawn, connectTarget } from '../reach/reach-leader.ts'
import { sessionToOpen } from '../reach/session-to-open.ts'

/** `headwater tui`, and `headwater` alone: the terminal replica. Source: interfaces 5. */
export const body: CommandBody = async (context, { options }) => {
  const { terminal } = context.surroundings
  if (terminal === undefined) {
    throw usage(
      'This draws on a terminal, and stdin or stdout is none.',
      'headwater run "Which files are largest here?"',
    )
  }
  const typed = options.session as string | undefined
  const [{ openTui }, tuiOptions, sessionId] = await Promise.all([
    import('../../tui/index.tsx'),
    optionsOf(context, { terminal, isLinear: isLinear(context, options.screenReader) }),
    typed === undefined ? undefined : sessionToOpen(context, typed),
  ])
  const end = await openTui(sessionId === undefined ? tuiOptions : { ...tuiOptions, sessionId })
  for (const line of end.farewell) context.notices.notice(line)
  return { isPrinted: true, exitCode: end.exitCode }
}

/** Source: experience 4.4. */
function isLinear({ surroundings: { env } }: CommandContext, flag: unknown): boolean {
  return flag === true || env.HEADWATER_SCREEN_READER === '1'
}

async function optionsOf(
  context: CommandContext,
  { terminal, isLinear }: { readonly terminal: Terminal; readonly isLinear: boolean },
): Promise<TuiOptions> {
  const { flags, surroundings } = context
  const { env, cwd } = surroundings
  const places = placesHere(env)
  const target = await connectTarget(context)
  const { backend, isFallback } = await chooseBackend(context, undefined)
  return {
    ...terminal,
    env,
    cwd,
    connect: ({ signal, clientInstanceId }) =>
      connectOrSpawn(
        { flags, surroundings, signal, startedAt: performance.now() },
        { spawn: 'any_root', surface: 'tui', clientInstanceId },
        target,
      ),
    openOffline: async () => {
      try {
        return await openCopiesHere(context)
      } catch (error) {
        if (toFailure(error).code === 'not_found') return null
        throw error
      }
    },
    place: {
      ...(flags.root === undefined ? {} : { root: flags.root }),
      ...(flags.url === undefined ? {} : { url: flags.url }),
    },
    address: flags.url ?? chosenRoot(flags, surroundings),
    places: { state: join(places.state, 'tui'), keymap: keymapPath(places.config, env) },
    ...(await readTuiSettings(places.configFile, env)),
    backend: { name: backend, isFallback },
    colour: colourDepth(context),
    isLinear,
    version: VERSION,
  }
}

function colourDepth({ flags, surroundings: { env } }: CommandContext): ColourDepth {
  return hasColour({ flag: flags.color, env, isTerminal: true }) ? '16' : 'none'
}
