import { PassThrough } from 'node:stream'
import { render } from 'ink'
import { type ReactNode, StrictMode } from 'react'
import { onTestFinished } from 'vitest'

/** Renders onto nothing, twice mounted as strict mode does; unmounted when the test ends. */
export function renderStrict(node: ReactNode): { unmount(): void; rerender(next: ReactNode): void } {
  const stdout = Object.assign(new PassThrough(), { columns: 80, rows: 24 })
  stdout.resume()
  const strict = (inner: ReactNode) => <StrictMode>{inner}</StrictMode>
  const instance = render(strict(node), {
    stdout: stdout as unknown as NodeJS.WriteStream,
    patchConsole: false,
    exitOnCtrlC: false,
    debug: true,
  })
  let isMounted = true
  const unmount = (): void => {
    if (isMounted) instance.unmount()
    isMounted = false
  }
  onTestFinished(unmount)
  return { unmount, rerender: next => instance.rerender(strict(next)) }
}
