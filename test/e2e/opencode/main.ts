import { join } from 'node:path'
import { makeTempDir, removeTempDir } from '../../support/temporary.ts'
import type { Conversation } from './conversation.ts'
import { installAgent, writeProject } from './install.ts'
import { openLeaderConversation } from './leader-conversation.ts'
import { type ModelServer, startModelServer } from './model-server.ts'
import { openPortConversation } from './port-conversation.ts'
import { STEPS, script } from './steps.ts'

/** Through a real leader and the command line; with `--port` through the backend alone. */
async function main(isPort: boolean): Promise<void> {
  const folder = makeTempDir('opencode')
  let model: ModelServer | undefined
  let chat: Conversation | undefined
  try {
    console.log('installing opencode-ai …')
    const agent = await installAgent(join(folder, 'agent'))
    console.log(`opencode ${agent.version}`)
    const cwd = join(folder, 'project')
    model = await startModelServer(script(cwd))
    writeProject(cwd, model.baseUrl)
    chat = isPort ? openPortConversation(agent, cwd) : await openLeaderConversation(agent, cwd, join(folder, 'leader'))
    for (const [title, step] of STEPS) {
      const startMs = performance.now()
      await step(chat, cwd)
      console.log(`ok  ${title} (${Math.round(performance.now() - startMs)} ms)`)
    }
  } finally {
    await chat?.dispose()
    await model?.close()
  }
  removeTempDir(folder)
}

await main(process.argv.includes('--port'))
