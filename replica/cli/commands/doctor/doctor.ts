import { isHeadwaterError } from '../../../../schema/errors.ts'
import type { CommandBody, CommandContext, Outcome } from '../../context.ts'
import { CliFailure, isForbidden, toFailure, usage } from '../../failure.ts'
import { chosenRoot } from '../../reach/here.ts'
import { loadLeader, type RootCapability } from '../../reach/leader-module.ts'
import { type Check, fail, ok, renderChecks, warn } from './check.ts'
import { checkLeader } from './check-leader.ts'
import { checkRoot } from './check-root.ts'
import { checkSystem } from './check-system.ts'
import { checkTerminal } from './check-terminal.ts'
import { acceptRegression, adopt } from './mend.ts'
import { repair } from './repair.ts'

/** `headwater doctor`: looks at a data root from all sides and says what to do; with an option it does one thing. Source: D2, D4, R2. */
export const body: CommandBody = async (context, { options }) => {
  if (context.flags.url !== undefined)
    throw usage('doctor works on a root of this machine; it takes no --url.', 'headwater doctor')
  const asked = ['adopt', 'acceptRegression', 'repair'].filter(name => options[name] !== undefined)
  if (asked.length > 1) throw usage('One thing at a time.', 'headwater doctor --adopt')
  if (options.asCopy === true && options.adopt !== true) {
    throw usage('--as-copy goes with --adopt.', 'headwater doctor --adopt --as-copy')
  }
  if (options.to !== undefined && options.repair === undefined) {
    throw usage('--to goes with --repair.', 'headwater doctor --repair SESSION --to 12')
  }
  if (typeof options.repair === 'string') return repair(context, options.repair, options.to as number | undefined)
  if (options.adopt === true) return adopt(context, options.asCopy === true)
  if (options.acceptRegression === true) return acceptRegression(context)
  return examine(context)
}

async function examine(context: CommandContext): Promise<Outcome> {
  const checks = [...checkSystem(), ...terminalOf(context), ...(await checkPlace(context))]
  context.notices.progress('')
  const text = renderChecks(checks, context.out.isTerminal && context.notices.hasColour, context.flags)
  const failed = checks.filter(({ state }) => state === 'fail').length
  if (failed === 0) {
    if (!context.flags.json) await context.out.styled(text)
    return context.flags.json ? { result: { checks }, text: '' } : { isPrinted: true, exitCode: 0 }
  }
  if (!context.flags.json) await context.out.styled(text)
  const first = checks.find(({ state, next }) => state === 'fail' && next !== undefined)
  throw new CliFailure('damage_found', failed === 1 ? 'One check failed.' : `${failed} checks failed.`, {
    detail: { checks },
    ...(first?.next === undefined ? {} : { next: first.next }),
  })
}

/** Where stdout is no terminal there is none to look at. */
function terminalOf({ out, surroundings: { env, terminal } }: CommandContext): Check[] {
  if (!out.isTerminal) return []
  return checkTerminal({ env, platform: process.platform, columns: out.columns, rows: terminal?.stdout.rows })
}

/** The root and its leader; where there is no root, or it is none any more, only that. */
async function checkPlace(context: CommandContext): Promise<Check[]> {
  const path = chosenRoot(context.flags, context.surroundings)
  const leader = await loadLeader()
  let root: RootCapability
  try {
    root = await leader.resolveRoot({ path, create: false })
  } catch (error) {
    return [rootFailure(path, error)]
  }
  try {
    return await checkFound(context, root)
  } catch (error) {
    if (!isForbidden(error)) throw error
    return [forbidden(path, toFailure(error).message)]
  }
}

function forbidden(path: string, message: string): Check {
  return fail('permissions', message, `chmod -R u+rwX ${path}`)
}

async function checkFound(context: CommandContext, root: RootCapability): Promise<Check[]> {
  const leader = await loadLeader()
  const tightened = await leader.tightenRoot(root.path)
  const permissions =
    tightened.length === 0
      ? ok('permissions', 'the root is closed to others')
      : warn('permissions', `closed to others: ${tightened.join('; ')}`)
  const served = await checkLeader(context)
  const progress = (sessions: number) => context.notices.progress(`checking … sessions ${sessions}`)
  const found = await leader.examineRoot(root, progress)
  return [permissions, ...served.checks, ...checkRoot(root, found, served.isServed)]
}

function rootFailure(path: string, error: unknown): Check {
  const { code, message } = toFailure(error)
  if (code === 'not_found') return warn('root', `there is no data root at ${path} yet`, 'headwater serve')
  const detail = isHeadwaterError(error) ? error.detail : undefined
  const isMendable = detail?.kind === 'marker_damaged' || typeof detail?.adopt === 'string'
  if (isMendable && code !== 'root_identity_changed') return fail('root', message, 'headwater doctor --adopt')
  if (isForbidden(error)) return forbidden(path, message)
  if (!isHeadwaterError(error)) throw error
  const next = {
    root_identity_changed: 'headwater doctor --adopt, with --as-copy for a copy to use beside the original',
    incompatible: 'npm install -g headwater@latest',
    root_not_empty: 'name another directory with --root',
  }[code as string]
  return fail('root', message, next)
}
