import { renameSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { SeededRandom } from '../random.ts'

/** Stands at the place of a leader's socket, so that every link of every replica goes through it and can be cut. */
export class CutProxy {
  readonly #links = new Set<readonly [Socket, Socket]>()
  #server: Server | null = null

  /** Takes the socket's name over from the leader that has just become ready. */
  async takeOver(socketPath: string): Promise<void> {
    const real = `${socketPath}.r`
    rmSync(real, { force: true })
    renameSync(socketPath, real)
    const server = createServer(near => this.#link(near, connect(real)))
    this.#server = server
    await new Promise<void>(resolve => server.listen(socketPath, resolve))
  }

  /** Cuts some of the links, at least one; gives how many. */
  cut(random: SeededRandom): number {
    const links = [...this.#links]
    const chosen = links.filter(() => random.next() < 0.5)
    const cut = chosen.length === 0 ? links.slice(0, 1) : chosen
    for (const pair of cut) for (const socket of pair) socket.destroy()
    return cut.length
  }

  /** Cuts everything and gives the name back; closing takes it off the disk, so it comes before the next leader. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    for (const pair of this.#links) for (const socket of pair) socket.destroy()
    if (server !== null) await new Promise<void>(resolve => server.close(() => resolve()))
  }

  #link(near: Socket, far: Socket): void {
    const pair = [near, far] as const
    this.#links.add(pair)
    const end = (): void => {
      this.#links.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
    near.pipe(far)
    far.pipe(near)
  }
}
