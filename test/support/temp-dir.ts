import { onTestFinished } from 'vitest'
import { makeTempDir, removeTempDir } from './temporary.ts'

export { makeTempDir, removeTempDir }

/** A temporary directory of the running test: removed when the test succeeds, kept and named on stderr when it fails. */
export function testTempDir(label = 't'): string {
  const path = makeTempDir(label)
  onTestFinished(({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(`kept for "${task.name}": ${path}\n`)
    else removeTempDir(path)
  })
  return path
}
