import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContentBlock } from '@agentclientprotocol/sdk'

/** The texts of all prompts an agent session was given before, oldest first; empty for one that is not known. */
export function readPrompts(cwd: string, sessionId: string): readonly string[] {
  const path = pathOf(cwd, sessionId)
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter(line => line !== '').map(line => JSON.parse(line) as string)
}

/** Keeps a prompt for later processes of the agent. */
export function appendPrompt(cwd: string, sessionId: string, blocks: readonly ContentBlock[]): void {
  const text = blocks.map(block => (block.type === 'text' ? block.text : '')).join('\n')
  appendFileSync(pathOf(cwd, sessionId), `${JSON.stringify(text)}\n`)
}

function pathOf(cwd: string, sessionId: string): string {
  return join(cwd, `.agent-${sessionId}.jsonl`)
}
