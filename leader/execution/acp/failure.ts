import { type AuthMethod, RequestError } from '@agentclientprotocol/sdk'
import { BackendFailure } from '../backend.ts'
import { asObject, asString } from './report/content-text.ts'

const AUTH_REQUIRED = -32_000

/** An agent's refusal as the run's failure: `auth` if it wants a login, with the ways it offers; anything else as `backend_error`. */
export function readAgentFailure(error: RequestError, authMethods: readonly AuthMethod[]): BackendFailure {
  const words = describeError(error)
  if (error.code !== AUTH_REQUIRED) return new BackendFailure('backend_error', `The agent failed: ${words}`)
  const ways = authMethods.map(method => [method.name, method.description].filter(part => part).join(': '))
  const hint = ways.length === 0 ? '' : ` Ways to log in: ${ways.join('; ')}.`
  return new BackendFailure('auth', `The agent wants a login: ${words}.${hint}`)
}

/** True for an answer of the agent itself, as opposed to a lost connection. */
export function isAgentError(error: unknown): error is RequestError {
  return error instanceof RequestError
}

function describeError(error: RequestError): string {
  const data = asObject(error.data)
  const detail = asString(error.data) ?? asString(data?.details) ?? asString(data?.message)
  return detail === undefined ? error.message : `${error.message} (${detail})`
}
