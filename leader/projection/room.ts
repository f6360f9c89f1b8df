import type { PresenceRow } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import { CLOSE_CODES } from '../../schema/wire/close-codes.ts'
import { encodeSyncUpdate } from '../../schema/wire/sync.ts'
import type { DocumentMembership, DocumentSubscriber, JoinOutcome, JoinRequest } from '../transport/host-port.ts'
import type { ProjectionClock } from './clock.ts'
import { EMPTY_STATE_VECTOR, isEmptyVector } from './document/state-vector.ts'
import { ANNOUNCER_TIMING, Announcer, type AnnouncerTiming } from './room/announcer.ts'
import { type Answer, AnswerCache } from './room/answers.ts'
import { Roster } from './room/roster.ts'
import type { RoomDocument, RoomFacts } from './room-document.ts'

/** What a room is made of. */
export interface RoomOptions {
  readonly document: RoomDocument
  /** Number of the newest durable update; absent: all of them are. */
  readonly durableNumber?: number
  readonly facts: () => RoomFacts
  readonly clock: ProjectionClock
  /** A replica of this very generation is ahead of the document: damage, or a restored copy. Its socket is closed already. */
  readonly onAhead: () => void
  readonly limits?: { readonly presenceRows?: number; readonly timing?: AnnouncerTiming }
}

/**
 * One socket's place. It either follows (gets every update above `through`), or waits (for its first answer, or for the next one to become
 * durable) and gets nothing.
 */
interface Member {
  readonly subscriber: DocumentSubscriber
  /** The socket named this document's generation when it joined. */
  readonly namedGeneration: boolean
  isFollowing: boolean
  through: number
  waiting: (Answer & { readonly stateVector: Uint8Array }) | null
  /** Asked while an answer was waiting: answered after it. One is enough, the newest state serves every request before it. */
  next: Uint8Array | null
  /** Roster version this socket was told; -1 before its first answer. */
  told: number
}

/**
 * A document and the sockets that follow it. Everything that leaves is durable: updates are published when their batch is, answers are encoded
 * from the document as it is (which may run ahead of the disk) and wait for their number. Never sends sync step 1. Source: A2, V1, V6, V13.
 */
export class Room {
  readonly #members = new Map<DocumentSubscriber, Member>()
  readonly #waiting = new Set<Member>()
  readonly #answers = new AnswerCache()
  readonly #roster: Roster
  readonly #announcer: Announcer
  readonly #facts: () => RoomFacts
  readonly #clock: ProjectionClock
  readonly #onAhead: () => void
  #document: RoomDocument
  #durable: number
  #published: number

  constructor(options: RoomOptions) {
    this.#document = options.document
    this.#durable = options.durableNumber ?? options.document.number
    this.#published = this.#durable
    this.#facts = options.facts
    this.#clock = options.clock
    this.#onAhead = options.onAhead
    this.#roster = new Roster(options.limits?.presenceRows)
    this.#announcer = new Announcer({
      clock: options.clock,
      timing: options.limits?.timing ?? ANNOUNCER_TIMING,
      roster: this.#roster,
      facts: options.facts,
      announce: isRenewal => this.#announce(isRenewal),
    })
  }

  /** Number of sockets in the room. */
  get subscribers(): number {
    return this.#members.size
  }

  /** The newest clients in the room, and how many there are. */
  get presence(): { readonly rows: readonly PresenceRow[]; readonly count: number } {
    return { rows: this.#roster.rows, count: this.#roster.count }
  }

  /** Takes a socket in; one that holds another generation is refused with 4410. Nothing is sent before it asks. Source: V6. */
  join(request: JoinRequest, subscriber: DocumentSubscriber): JoinOutcome {
    const { generation } = request
    if (generation !== undefined && generation !== this.#facts().generation) {
      return { kind: 'refused', closeCode: CLOSE_CODES.other_generation, reason: 'other_generation' }
    }
    const member: Member = {
      subscriber,
      namedGeneration: generation !== undefined,
      isFollowing: false,
      through: -1,
      waiting: null,
      next: null,
      told: -1,
    }
    this.#members.set(subscriber, member)
    const isNew = this.#roster.enter(subscriber, this.#clock.now())
    this.#announcer.start()
    if (isNew) this.#announcer.change()
    return { kind: 'joined', membership: this.#membership(member) }
  }

  /**
   * Sends an update to all that follow: encoded once, the same bytes for everyone. Called when `number` is durable, in order.
   * Throws if the order is broken.
   */
  publish(number: number, update: Uint8Array): void {
    if (number <= this.#published) throw new Error(`update ${number} published after ${this.#published}`)
    this.#published = number
    let message: Uint8Array | undefined
    for (const member of this.#members.values()) {
      if (!member.isFollowing || member.through >= number) continue
      message ??= encodeSyncUpdate(update)
      member.through = number
      member.subscriber.send(message)
    }
    this.durable(number)
  }

  /** Everything up to `number` is durable: answers that waited for it leave. */
  durable(number: number): void {
    if (number <= this.#durable) return
    this.#durable = number
    for (const member of [...this.#waiting]) {
      if (member.waiting !== null && member.waiting.number <= number) this.#deliver(member, member.waiting)
    }
  }

  /** The document was loaded again after a storage error: waiting answers are made anew; sockets stay, for they saw only durable state. E7. */
  replaceDocument(document: RoomDocument, durableNumber: number): void {
    this.#document = document
    this.#durable = durableNumber
    this.#published = durableNumber
    this.#answers.clear()
    for (const member of [...this.#waiting]) {
      const stateVector = member.waiting?.stateVector
      member.waiting = null
      this.#waiting.delete(member)
      if (stateVector !== undefined) this.#ask(member, stateVector)
    }
  }

  /** The document was built anew: copies of the old one must not be synced with it, so all sockets are closed 4410. Source: V7, H6. */
  newGeneration(document: RoomDocument, durableNumber: number = document.number): void {
    this.closeAll(CLOSE_CODES.other_generation, 'other_generation')
    this.#document = document
    this.#durable = durableNumber
    this.#published = durableNumber
    this.#answers.clear()
  }

  /** Closes every socket; the room is empty then and has nothing scheduled. */
  closeAll(code: number, reason: string): void {
    for (const member of [...this.#members.values()]) this.#close(member, code, reason)
  }

  /** Tells everybody the facts again, for a change of theirs (damage found, base revision moved). */
  announce(): void {
    this.#roster.touch()
    this.#announcer.change()
  }

  #membership(member: Member): DocumentMembership {
    const isHere = (): boolean => this.#members.get(member.subscriber) === member
    return {
      syncStep1: stateVector => {
        if (isHere()) this.#ask(member, stateVector)
      },
      queryAwareness: () => {
        // Before its first answer a socket gets nothing.
        if (isHere() && member.told >= 0) this.#tell(member)
      },
      resync: () => {
        if (isHere()) this.#ask(member, EMPTY_STATE_VECTOR)
      },
      leave: () => this.#remove(member),
    }
  }

  #ask(member: Member, stateVector: Uint8Array): void {
    const isAhead = stateVector.length > LIMITS.stateVectorBytes ? 'too_large' : this.#document.isAhead(stateVector)
    if (isAhead === 'too_large' || isAhead === 'malformed') {
      this.#close(member, CLOSE_CODES[isAhead], 'state_vector')
    } else if (isAhead) {
      this.#close(member, CLOSE_CODES.other_generation, 'other_generation')
      if (member.namedGeneration) this.#onAhead()
    } else if (member.waiting !== null) {
      // A request for the whole state stands until it is answered.
      if (member.next === null || !isEmptyVector(member.next)) member.next = stateVector
    } else {
      this.#answer(member, stateVector)
    }
  }

  #answer(member: Member, stateVector: Uint8Array): void {
    const answer = this.#answers.answer(this.#document, stateVector)
    if (answer.number <= this.#durable) {
      this.#deliver(member, answer)
      return
    }
    member.isFollowing = false
    member.waiting = { ...answer, stateVector }
    this.#waiting.add(member)
  }

  #deliver(member: Member, answer: Answer): void {
    member.waiting = null
    this.#waiting.delete(member)
    member.isFollowing = true
    member.through = Math.max(member.through, answer.number)
    member.subscriber.send(answer.message)
    this.#tell(member)
    const next = member.next
    member.next = null
    if (next !== null && this.#members.get(member.subscriber) === member) this.#ask(member, next)
  }

  #tell(member: Member): void {
    member.told = this.#roster.version
    member.subscriber.send(this.#announcer.message())
  }

  #announce(isRenewal: boolean): boolean {
    const version = this.#roster.version
    let message: Uint8Array | undefined
    for (const member of this.#members.values()) {
      if (member.told < 0 || (!isRenewal && member.told === version)) continue
      message ??= this.#announcer.message()
      member.told = version
      member.subscriber.send(message)
    }
    return message !== undefined
  }

  #close(member: Member, code: number, reason: string): void {
    this.#remove(member)
    member.subscriber.close(code, reason)
  }

  #remove(member: Member): void {
    if (this.#members.get(member.subscriber) !== member) return
    this.#members.delete(member.subscriber)
    this.#waiting.delete(member)
    member.waiting = null
    member.next = null
    const isGone = this.#roster.exit(member.subscriber)
    if (this.#members.size === 0) this.#announcer.stop()
    else if (isGone) this.#announcer.change()
  }
}
