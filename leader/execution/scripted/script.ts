import { LIMITS } from '../../../schema/limits.ts'
import { type ChildScript, readChildScript } from './child.ts'

/** What a prompt asks of the scripted backend. `reply` is any text that is no command. */
export type Script =
  | { readonly kind: 'reply'; readonly text: string }
  | { readonly kind: 'ask' | 'permission' | 'plan' | 'tasks' | 'wait_steering' | 'hold' | 'crash' }
  | { readonly kind: 'tool' | 'stream'; readonly bytes: number }
  | { readonly kind: 'error'; readonly failureClass: string }
  | ({ readonly kind: 'child' } & ChildScript)

const WITHOUT_ARGUMENT = {
  '/ask': 'ask',
  '/permission': 'permission',
  '/plan': 'plan',
  '/tasks': 'tasks',
  '/wait-steering': 'wait_steering',
  '/hold': 'hold',
  '/crash': 'crash',
} as const

/** A prompt is a command if its whole text is one, or starts with one that takes an argument, a space and that argument. Source: F. */
export function readScript(text: string): Script {
  if (Object.hasOwn(WITHOUT_ARGUMENT, text)) return { kind: WITHOUT_ARGUMENT[text as keyof typeof WITHOUT_ARGUMENT] }
  const space = text.indexOf(' ')
  const argument = space < 0 ? '' : text.slice(space + 1)
  const command = space < 0 ? text : text.slice(0, space)
  const reply: Script = { kind: 'reply', text }
  if (command === '/error' && argument !== '') return { kind: 'error', failureClass: argument }
  if (command === '/child') {
    const child = readChildScript(argument)
    return child === null ? reply : { kind: 'child', ...child }
  }
  if (command !== '/tool' && command !== '/stream') return reply
  if (!/^[0-9]{1,8}$/.test(argument) || Number(argument) > LIMITS.artifactBytes) return reply
  return { kind: command === '/tool' ? 'tool' : 'stream', bytes: Number(argument) }
}
