import fc from 'fast-check'
import { testSeed } from './random.ts'

/**
 * Asserts a property over generated values. The seed comes from `HEADWATER_SEED` or is new; the failure's message names it together with
 * the smallest counter-example, so that a found seed can become a named regression.
 */
export function assertProperty<T>(property: fc.IProperty<T>, runs = 500): void {
  fc.assert(property, { seed: testSeed() | 0, numRuns: runs })
}

/** Any string of UTF-16 units, lone surrogates included and frequent. */
export const anyString: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0xd800, max: 0xdfff }),
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.constantFrom(0, 0x0d, 0x0a, 0x200d, 0x0301, 0xfeff, 0x202e, 0x2028),
    ),
    { maxLength: 64 },
  )
  .map(units => String.fromCharCode(...units))

/** Any well-formed string. */
export const wellFormedString: fc.Arbitrary<string> = anyString.map(text => text.toWellFormed())
