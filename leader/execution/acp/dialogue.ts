import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationContentValue,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk'
import type { PermissionRequest } from '../../../schema/entities/interaction.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { RunContext } from '../backend.ts'
import { boundChars, boundToolCallId } from '../bounds.ts'
import type { Unknown } from './report/content-text.ts'
import type { ToolReport } from './report/tool-report.ts'

const PERMISSION_CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

/** The answer to a request that no turn is there for. */
export const NOBODY_TO_ASK = { permission: PERMISSION_CANCELLED, elicitation: { action: 'cancel' } } as const

/**
 * Asks for permission as the agent wants it asked. `toolKind` is the protocol's kind (`read`, `edit`, …) where the agent gives one, else
 * the tool's name. A closed interaction and a stop answer `cancelled`. Source: I7.
 */
export async function askPermission(
  run: RunContext,
  tools: ToolReport,
  request: RequestPermissionRequest,
): Promise<RequestPermissionResponse> {
  const { toolCall } = request
  tools.take({ ...toolCall, status: undefined } as Unknown, 0)
  const known = tools.describe(toolCall.toolCallId)
  const options = readOptions(request.options)
  if (options.length === 0) return PERMISSION_CANCELLED
  const outcome = await run.requestPermission({
    toolCallId: boundToolCallId(toolCall.toolCallId),
    title: boundChars(toolCall.title ?? known?.title ?? '', LIMITS.toolTitleChars),
    toolKind: boundChars(toolCall.kind ?? known?.kind ?? toolCall.name ?? '', LIMITS.toolNameChars) || 'other',
    options,
  })
  if (outcome.kind === 'closure' || outcome.answer.kind !== 'permission') return PERMISSION_CANCELLED
  return { outcome: { outcome: 'selected', optionId: outcome.answer.optionId } }
}

/** Shows the agent's form and gives back what was filled in; other kinds of elicitation are declined. */
export async function askForm(run: RunContext, request: CreateElicitationRequest): Promise<CreateElicitationResponse> {
  if (request.mode !== 'form' || !('requestedSchema' in request)) return { action: 'decline' }
  const schema = request.requestedSchema as Record<string, unknown>
  const title = typeof schema.title === 'string' ? boundChars(schema.title, LIMITS.toolTitleChars) : undefined
  const outcome = await run.form({
    ...(title === undefined ? {} : { title }),
    message: boundChars(request.message, LIMITS.interactionTextChars),
    schema,
  })
  if (outcome.kind === 'closure' || outcome.answer.kind !== 'form') return { action: 'cancel' }
  return { action: 'accept', content: readValues(outcome.answer.values) }
}

/** An option whose id cannot be kept as it is would be answered wrongly, so it is left out. */
function readOptions(options: readonly PermissionOption[]): PermissionRequest['options'] {
  return options
    .filter(
      option =>
        option.optionId !== '' && option.optionId.length <= LIMITS.toolNameChars && option.optionId.isWellFormed(),
    )
    .slice(0, LIMITS.permissionOptions)
    .map(option => ({
      optionId: option.optionId,
      label: boundChars(option.name, LIMITS.toolTitleChars),
      kind: option.kind,
    }))
}

function readValues(values: Readonly<Record<string, unknown>>): Record<string, ElicitationContentValue> {
  const read: Record<string, ElicitationContentValue> = {}
  for (const [key, value] of Object.entries(values)) {
    const isList = Array.isArray(value) && value.every(item => typeof item === 'string')
    if (isList || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      read[key] = value
  }
  return read
}
