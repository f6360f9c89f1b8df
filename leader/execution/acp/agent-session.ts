import type { AgentCapabilities, ClientContext, SessionConfigOption } from '@agentclientprotocol/sdk'
import { methods } from '@agentclientprotocol/sdk'
import { BackendFailure, type RunContext } from '../backend.ts'
import { isAgentError } from './failure.ts'
import { asObject, asString } from './report/content-text.ts'

const AUTH_REQUIRED = -32_000

/** The agent's own session. `configOptions` as it offered them; `isFresh` if it knows nothing of earlier turns. */
export interface AgentSession {
  readonly agentSessionId: string
  readonly configOptions: readonly SessionConfigOption[]
  readonly isFresh: boolean
}

/**
 * Takes up the session that an earlier run remembered, by `session/resume` or else `session/load`, whichever the agent offers; where it
 * offers neither or does not know the session any more, starts a new one and remembers that.
 */
export async function openAgentSession(
  agent: ClientContext,
  capabilities: AgentCapabilities,
  run: RunContext,
): Promise<AgentSession> {
  const known = run.agentSession === null ? null : await takeUp(agent, capabilities, run, run.agentSession)
  if (known !== null) return known
  const response = asObject(await agent.request(methods.agent.session.new, { cwd: run.cwd, mcpServers: [] }))
  const agentSessionId = asString(response?.sessionId)
  if (agentSessionId === undefined) throw new BackendFailure('backend_error', 'The agent gave no session id.')
  await run.rememberAgentSession(agentSessionId)
  return { agentSessionId, configOptions: readOptions(response?.configOptions), isFresh: true }
}

/** Sets the model the session asks for; false if the agent does not offer it. */
export async function chooseModel(agent: ClientContext, session: AgentSession, model: string): Promise<boolean> {
  for (const option of session.configOptions) {
    if (option.category !== 'model' || option.type !== 'select' || !offers(option.options, model)) continue
    if (option.currentValue === model) return true
    const choice = { sessionId: session.agentSessionId, configId: option.id, value: model }
    await agent.request(methods.agent.session.setConfigOption, choice)
    return true
  }
  return false
}

async function takeUp(
  agent: ClientContext,
  capabilities: AgentCapabilities,
  run: RunContext,
  agentSessionId: string,
): Promise<AgentSession | null> {
  const canResume = capabilities.sessionCapabilities?.resume != null
  if (!canResume && capabilities.loadSession !== true) return null
  const request = { sessionId: agentSessionId, cwd: run.cwd, mcpServers: [] }
  try {
    const method = canResume ? methods.agent.session.resume : methods.agent.session.load
    const response = asObject(await agent.request(method, request))
    return { agentSessionId, configOptions: readOptions(response?.configOptions), isFresh: false }
  } catch (error) {
    if (isAgentError(error) && error.code !== AUTH_REQUIRED) return null
    throw error
  }
}

function readOptions(value: unknown): readonly SessionConfigOption[] {
  return Array.isArray(value) ? value.filter(option => asObject(option) !== null) : []
}

/** Options may be grouped. */
function offers(options: unknown, model: string): boolean {
  if (!Array.isArray(options)) return false
  return options.some(option => asObject(option)?.value === model || offers(asObject(option)?.options, model))
}
