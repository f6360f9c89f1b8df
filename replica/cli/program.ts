import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { VERSION } from '../../schema/version.ts'
import type { CommandInput, CommandSpec, GlobalFlags, OptionSpec } from './context.ts'
import { answeringCommands } from './declare/answering.ts'
import { cacheCommands } from './declare/cache.ts'
import { doctorCommands } from './declare/doctor.ts'
import { exchangeCommands } from './declare/exchange.ts'
import { helpCommands } from './declare/help.ts'
import { inspectCommands } from './declare/inspect.ts'
import { leaderCommands } from './declare/leader.ts'
import { planCommands } from './declare/plan.ts'
import { sessionCommands } from './declare/session.ts'
import { settingsCommands } from './declare/settings.ts'
import { tuiCommands } from './declare/tui.ts'
import { turnCommands } from './declare/turn.ts'
import { CliFailure } from './failure.ts'
import { parseDuration } from './input/duration.ts'

/** Every command, in the order in which help lists them. */
export const COMMANDS: readonly CommandSpec[] = [
  ...tuiCommands,
  ...turnCommands,
  ...sessionCommands,
  ...answeringCommands,
  ...planCommands,
  ...inspectCommands,
  ...exchangeCommands,
  ...leaderCommands,
  ...doctorCommands,
  ...cacheCommands,
  ...settingsCommands,
  ...helpCommands,
]

/** What the arguments ask for: a command, or a text that is ready to print (help, version). */
export type Parsed =
  | { readonly kind: 'command'; readonly spec: CommandSpec; readonly input: CommandInput; readonly flags: GlobalFlags }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'no_command'; readonly help: string; readonly flags: GlobalFlags; readonly isBare: boolean }

/** The flags that every command takes. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '--root <dir>', description: 'data root (default: $HEADWATER_ROOT, else $XDG_DATA_HOME/headwater/root)' },
  { flags: '--url <url>', description: 'a leader elsewhere, instead of a root; its token is in $HEADWATER_TOKEN_FILE' },
  { flags: '--json', description: 'one line of JSON on stdout, also on failure' },
  { flags: '--color <when>', description: 'auto, always or never', value: ['auto', 'always', 'never'] },
  { flags: '-q, --quiet', description: 'no notices on stderr' },
  { flags: '-v, --verbose', description: 'more notices on stderr' },
  { flags: '--no-input', description: 'never ask anything' },
  { flags: '--yes', description: 'do not ask before something is lost' },
  { flags: '--timeout <dur>', description: 'give up waiting after this long: 500ms, 30s, 5m', value: 'duration' },
]

const GLOBAL_EXAMPLES = ['headwater run "Which files are largest here?"', 'headwater session list --json']

/** Reads the arguments (without program and script). Throws a CliFailure for a usage error. Source: interfaces 5. */
export function parseArguments(argv: readonly string[]): Parsed {
  const build = buildProgram()
  try {
    build.program.parse([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { kind: 'text', text: build.printed() }
    if (error.code === 'commander.help') return noCommand(build, build.printed())
    throw usageFailure(error, build.failing())
  }
  const chosen = build.chosen()
  if (chosen === undefined) return noCommand(build, build.program.helpInformation())
  return { kind: 'command', ...chosen, flags: globalFlags(build.program) }
}

/** `isBare`: not even the first word of a command was given. */
function noCommand({ program }: Build, help: string): Parsed {
  return { kind: 'no_command', help, flags: globalFlags(program), isBare: program.args.length === 0 }
}

/** The help text of the program, or of a command named by its words. Undefined: there is no such command. */
export function helpText(words: readonly string[]): string | undefined {
  const { program, printed } = buildProgram()
  let command: Command = program
  for (const word of words) {
    const next = command.commands.find(each => each.name() === word)
    if (next === undefined) return undefined
    command = next
  }
  command.outputHelp()
  return printed()
}

interface Build {
  readonly program: Command
  readonly printed: () => string
  readonly chosen: () => { spec: CommandSpec; input: CommandInput } | undefined
  /** The declaration whose arguments were wrong, if it got that far. */
  readonly failing: () => CommandSpec | undefined
}

function buildProgram(): Build {
  let printed = ''
  let chosen: { spec: CommandSpec; input: CommandInput } | undefined
  let failing: CommandSpec | undefined
  const program = new Command('headwater')
    .usage('[global flags] <command>')
    .description('A session store for AI agents: one leader writes, every window is a replica.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: text => {
        printed += text
      },
      writeErr: text => {
        printed += text
      },
      outputError: () => {},
    })
    .configureHelp({ showGlobalOptions: false })
  for (const option of GLOBAL_OPTIONS) program.addOption(optionOf(option))
  program.addOption(new Option('--no-color').hideHelp())
  program.addHelpText('after', examplesText(GLOBAL_EXAMPLES))
  for (const spec of COMMANDS) {
    addCommand(program, spec, {
      choose: input => {
        chosen = { spec, input }
      },
      fail: () => {
        failing = spec
      },
    })
  }
  return { program, printed: () => printed, chosen: () => chosen, failing: () => failing }
}

const GROUPS: Readonly<Record<string, string>> = {
  session: 'make, read, fork, put away and remove sessions',
  cache: 'the copies that are kept for reading offline',
  config: 'settings',
}

function addCommand(
  program: Command,
  spec: CommandSpec,
  on: { choose(input: CommandInput): void; fail(): void },
): void {
  const [first = '', second] = spec.name.split(' ')
  const parent = second === undefined ? program : groupOf(program, first)
  const command = parent.command(second ?? first, { hidden: spec.isHidden === true }).description(spec.summary)
  if (spec.details !== undefined) command.addHelpText('after', `\n${spec.details}`)
  if (spec.args !== '') command.arguments(spec.args)
  for (const option of spec.options) command.addOption(optionOf(option))
  command.addHelpText('after', `\nGlobal flags: headwater --help${examplesText(spec.examples)}`)
  command.exitOverride(error => {
    on.fail()
    throw error
  })
  command.action((..._values: unknown[]) => on.choose({ args: command.args, options: command.opts() }))
}

function groupOf(program: Command, name: string): Command {
  const known = program.commands.find(command => command.name() === name)
  if (known !== undefined) return known
  const group = COMMANDS.filter(spec => spec.name.startsWith(`${name} `))
  const [only] = group
  const examples = group.map(spec => spec.examples[0])
  return program
    .command(name)
    .description(GROUPS[name] ?? '')
    .helpCommand(false)
    .addHelpText('after', examplesText(examples.length > 1 ? examples.slice(0, 2) : (only?.examples ?? [])))
}

function examplesText(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map(example => `  ${example}\n`).join('')}`
}

function optionOf(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.description).hideHelp(spec.isHidden === true)
  if (spec.value === 'duration') return option.argParser(durationOf)
  if (spec.value === 'count') return option.argParser(countOf)
  if (spec.value !== undefined) return option.choices([...spec.value])
  return option
}

function durationOf(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('A duration is written 500ms, 30s or 5m.')
  return ms
}

function countOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

function globalFlags(program: Command): GlobalFlags {
  const given = program.opts() as Record<string, unknown>
  const color = given.color === false ? 'never' : given.color === true ? 'auto' : (given.color ?? 'auto')
  return {
    ...(given.root === undefined ? {} : { root: given.root as string }),
    ...(given.url === undefined ? {} : { url: given.url as string }),
    ...(given.timeout === undefined ? {} : { timeoutMs: given.timeout as number }),
    json: given.json === true,
    color: color as GlobalFlags['color'],
    quiet: given.quiet === true,
    verbose: given.verbose === true,
    input: given.input !== false,
    yes: given.yes === true,
  }
}

function usageFailure(error: CommanderError, spec: CommandSpec | undefined): CliFailure {
  const sentence = error.message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean ([^)]*)\?\)$/, '; did you mean $1?')
    .trim()
  return new CliFailure('usage', sentence, {
    example: spec?.examples[0] ?? GLOBAL_EXAMPLES[0],
    next: spec === undefined ? 'headwater --help' : `headwater ${spec.name} --help`,
  })
}
