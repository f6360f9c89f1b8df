/** A token bucket: `perSecond` tokens flow in, at most one second's worth is kept. Source: Z5. */
export class RateBudget {
  readonly #perSecond: number
  #tokens: number
  #atMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#tokens = perSecond
    this.#atMs = nowMs
  }

  /** Takes one token; false if there is none. `nowMs` is monotonic. */
  take(nowMs: number): boolean {
    if (this.#tokens < 1) {
      const refill = ((nowMs - this.#atMs) * this.#perSecond) / 1000
      this.#tokens = Math.min(this.#perSecond, this.#tokens + Math.max(0, refill))
      this.#atMs = nowMs
      if (this.#tokens < 1) return false
    }
    this.#tokens -= 1
    return true
  }
}
