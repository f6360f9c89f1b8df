/** A source of numbers that gives the same ones for the same seed. */
export interface SeededRandom {
  readonly seed: number
  /** In [0, 1). */
  next(): number
  /** An integer in [min, max]. */
  between(min: number, max: number): number
  pick<T>(list: readonly T[]): T
}

/** The seed of a random test: `HEADWATER_SEED` if it is set, else a new one. The test prints it when it fails. */
export function testSeed(): number {
  const given = process.env.HEADWATER_SEED
  return given === undefined ? (Math.random() * 0xffff_ffff) >>> 0 : Number(given) >>> 0
}

/** Mulberry32: small, fast, good enough to choose test steps. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  return {
    seed,
    next,
    between,
    pick: list => {
      const item = list[between(0, list.length - 1)]
      if (item === undefined) throw new RangeError('nothing to pick from')
      return item
    },
  }
}
