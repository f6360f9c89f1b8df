import { defineConfig } from 'vitest/config'

const HOUR_MS = 3_600_000

/** The long versions of the fault and model tests: `npm run soak`. One file at a time, so that a round has the machine to itself. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.soak.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 4 * HOUR_MS,
    hookTimeout: 60_000,
    reporters: ['verbose'],
  },
})
