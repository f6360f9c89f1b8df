/** Sentences for the status line from what is no part of the screen: kept until a screen is there to say them. */
export class Announcements {
  readonly #waiting: string[] = []
  #say: ((text: string) => void) | null = null

  /** Says it, or keeps it for the screen that comes. */
  add(text: string): void {
    if (this.#say === null) this.#waiting.push(text)
    else this.#say(text)
  }

  /** `say` is called with each sentence from now on, and with what waited; until the returned function is called. */
  follow(say: (text: string) => void): () => void {
    this.#say = say
    for (const text of this.#waiting.splice(0)) say(text)
    return () => {
      if (this.#say === say) this.#say = null
    }
  }
}
