import { randomUUID } from 'node:crypto'

/** A fresh id for a session, turn, message or other entity this client makes. Source: W4. */
export function newId(): string {
  return randomUUID()
}
