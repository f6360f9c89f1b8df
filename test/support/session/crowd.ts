import { type SessionWorld, settle } from './session-world.ts'

const HALF = 32

/**
 * Sends commands, 64 outstanding, so that the session never comes to rest: two crowds in turn, the batch of one being written while the
 * next is filled by the other. Ends when `next` gives null.
 */
export async function keepBusy(world: SessionWorld, next: () => Promise<unknown> | null): Promise<void> {
  let isOver = false
  const drive = async (): Promise<void> => {
    for (let sent = next(); sent !== null; sent = next()) await sent
    isOver = true
  }
  const { faults } = world.store
  faults.hold()
  const crowd = Array.from({ length: HALF }, drive)
  await faults.held()
  crowd.push(...Array.from({ length: HALF }, drive))
  while (!isOver) {
    await settle()
    faults.release()
    faults.hold()
  }
  faults.release()
  await Promise.all(crowd)
}
