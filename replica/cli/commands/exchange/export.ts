import type { CommandBody, CommandContext, CommandInput, Outcome } from '../../context.ts'
import { exportLines } from '../../exchange/export-lines.ts'
import { withSessionSource } from '../../exchange/open-source.ts'
import { ReaderGone, type Sink, writingTo } from '../../exchange/sink.ts'
import type { SessionSource } from '../../exchange/source.ts'
import { usage } from '../../failure.ts'

/** How many records pass between two words about them. */
const PROGRESS_RECORDS = 256

/** `headwater export`: to stdout, or to a file that is there whole or not at all. Source: D5. */
export const body: CommandBody = async (context, input) => {
  const { args, options } = input
  const path = options.output as string | undefined
  if (context.flags.json && (path === undefined || path === '-')) {
    throw usage(
      '--json says what was written to a file; name it with -o.',
      'headwater export ID -o session.jsonl --json',
    )
  }
  try {
    return await withSessionSource(context, args[0] ?? '', source =>
      writingTo(context, path, sink => write({ context, source, sink, options })),
    )
  } catch (error) {
    if (error instanceof ReaderGone) return { isPrinted: true, exitCode: 0 }
    throw error
  } finally {
    context.notices.progress('')
  }
}

interface Export {
  readonly context: CommandContext
  readonly source: SessionSource
  readonly sink: Sink
  readonly options: CommandInput['options']
}

async function write({ context, source, sink, options }: Export): Promise<Outcome> {
  const isMarkdown = options.format === 'md'
  const written = isMarkdown
    ? await writeMarkdown(source, sink)
    : await exportLines(source, sink, linesOptions(context, options))
  if (sink.path === undefined) return { isPrinted: true, exitCode: 0 }
  const { path } = sink
  return { result: { path, by: source.by, format: isMarkdown ? 'md' : 'jsonl', ...written }, text: path }
}

async function writeMarkdown(source: SessionSource, sink: Sink): Promise<object> {
  const { exportMarkdown } = await import('../../exchange/markdown/export-markdown.ts')
  return await exportMarkdown(source, sink)
}

function linesOptions({ notices }: CommandContext, options: CommandInput['options']) {
  let missing = 0
  return {
    withArtifacts: options.artifacts !== false,
    exportedAt: Date.now(),
    onProgress(records: number, artifacts: number) {
      if (artifacts > 0) notices.progress(`exporting … ${records} records, ${artifacts} artifacts`)
      else if (records % PROGRESS_RECORDS === 0) notices.progress(`exporting … ${records} records`)
    },
    onMissing(hash: string) {
      missing += 1
      if (missing === 1)
        notices.notice(`the artifact ${hash} is missing, and so it is in the export; headwater verify says more`)
    },
  }
}
