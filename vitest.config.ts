import { defineConfig } from 'vitest/config'

/** Everything `npm test` runs: each file in a process of its own, because tests own signals, environments and native handles. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    expect: { requireAssertions: true },
  },
})
