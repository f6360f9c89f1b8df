import { PassThrough } from 'node:stream'
import { render } from 'ink'
import { type ReactNode, StrictMode, useEffect } from 'react'
import { onTestFinished } from 'vitest'
import { waitFor } from '../wait-for.ts'

/** What was rendered; `mounts` counts how often it was mounted. */
export interface Rendered {
  readonly mounts: number
  unmount(): void
  rerender(next: ReactNode): void
}

/** Renders onto nothing, mounted twice as strict mode does; resolves when it is there. Unmounted when the test ends. */
export async function renderStrict(node: ReactNode): Promise<Rendered> {
  const stdout = Object.assign(new PassThrough(), { columns: 80, rows: 24 })
  stdout.resume()
  const counted = { mounts: 0 }
  const strict = (inner: ReactNode) => (
    <StrictMode>
      <Mounted counted={counted} />
      {inner}
    </StrictMode>
  )
  const empty = { mounts: 0 }
  const instance = render(<Mounted counted={empty} />, {
    stdout: stdout as unknown as NodeJS.WriteStream,
    patchConsole: false,
    exitOnCtrlC: false,
    debug: true,
    // Only a concurrent root mounts twice under strict mode, and only what comes after its own first commit.
    concurrent: true,
  })
  await waitFor(() => empty.mounts === 1, { what: 'the first commit' })
  instance.rerender(strict(node))
  let isMounted = true
  const unmount = (): void => {
    if (isMounted) instance.unmount()
    isMounted = false
  }
  onTestFinished(unmount)
  await waitFor(() => counted.mounts === 2, { what: 'both mounts of strict mode' })
  return Object.assign(counted, { unmount, rerender: (next: ReactNode) => instance.rerender(strict(next)) })
}

function Mounted({ counted }: { readonly counted: { mounts: number } }) {
  useEffect(() => {
    counted.mounts += 1
  }, [counted])
  return null
}
