import type { CommandContext, Outcome } from '../../context.ts'
import { CliFailure } from '../../failure.ts'
import { chosenRoot } from '../../reach/here.ts'
import { loadLeader } from '../../reach/leader-module.ts'

/** `headwater doctor --adopt`: makes a root that was moved, put back or copied a root again. Source: R2. */
export async function adopt(context: CommandContext, asCopy: boolean): Promise<Outcome> {
  const { adoptRoot } = await loadLeader()
  const result = await adoptRoot({ path: chosenRoot(context.flags, context.surroundings), asCopy })
  const what = asCopy ? `is a root of its own now, id ${result.rootId.slice(0, 16)}` : 'is the root it was'
  return { result, text: `${result.path} ${what}. Replicas that saw it before are told that it went back.` }
}

/** `headwater doctor --accept-regression`: goes on with the database as it is. Needs the root for itself. Source: D4. */
export async function acceptRegression(context: CommandContext): Promise<Outcome> {
  const leader = await loadLeader()
  const path = chosenRoot(context.flags, context.surroundings)
  const owner = await leader.tryAcquireRootOwner(await leader.resolveRoot({ path, create: false }))
  if (owner === undefined) {
    throw new CliFailure('root_owned', 'A leader runs on this data root; it has to end first.', {
      next: 'headwater stop',
    })
  }
  try {
    const accepted = await leader.acceptRegression(owner)
    const text = `The database is taken as it is, up to batch ${accepted.batch}. What was behind that is lost; replicas that saw it keep it aside.`
    return { result: { path, ...accepted }, text }
  } finally {
    await owner.close()
  }
}
