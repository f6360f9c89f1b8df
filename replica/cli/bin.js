#!/usr/bin/env node
// No imports and no new syntax: an old Node must be able to read this far.
const lowest = [20, 19]
const found = process.versions.node.split('.').map(Number)
if (found[0] < lowest[0] || (found[0] === lowest[0] && found[1] < lowest[1])) {
  process.stderr.write(
    `headwater: needs Node ${lowest.join('.')} or newer; this is Node ${process.versions.node}. (usage)\n`,
  )
  process.exit(2)
}
import(new URL('../../dist/replica/cli/main.js', import.meta.url).href).catch(error => {
  const isUnbuilt = error.code === 'ERR_MODULE_NOT_FOUND' && String(error.message).indexOf('cli/main.js') >= 0
  process.stderr.write(
    isUnbuilt ? 'headwater: is not built yet; run `npm run build`. (unexpected)\n' : `${String(error.stack)}\n`,
  )
  process.exitCode = 1
})
