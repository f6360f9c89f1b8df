import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keysMarkdown } from '../../../replica/view/keymap/keys-document.ts'
import { PROJECT } from '../../support/source-files.ts'

const PATH = join(PROJECT, 'replica', 'view', 'keymap', 'KEYS.md')

test('experience 7.2 KEYS.md is the table', () => {
  if (process.env.HEADWATER_RECORD_TABLES === '1') writeFileSync(PATH, keysMarkdown())
  expect(readFileSync(PATH, 'utf8')).toBe(keysMarkdown())
})
