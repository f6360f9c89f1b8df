import { LIMITS } from '../../../../schema/limits.ts'
import type { Examination, RootCapability } from '../../reach/leader-module.ts'
import { type Check, fail, ok, warn } from './check.ts'
import { checkFaults } from './check-faults.ts'

const MIB = 1024 * 1024

/** What only the root itself shows, and who serves it. `isServed`: a leader that runs answered for its database. */
export function checkRoot(root: RootCapability, found: Examination, isServed: boolean): Check[] {
  return [
    ok('root', `${root.path} is a data root, id ${root.rootId.slice(0, 16)}`),
    checkToken(found),
    checkSocket(found),
    ...checkPort(found, isServed),
    checkSpace(found),
    checkAnchor(found),
    ...checkKept(found),
    ...checkDatabase(root.path, found, isServed),
  ]
}

function checkToken({ tokenFailure }: Examination): Check {
  return tokenFailure === null
    ? ok('token', 'the root token is there')
    : fail('token', tokenFailure, 'put headwater.token back from a backup of this root')
}

function checkSocket({ socket }: Examination): Check {
  return 'path' in socket
    ? ok('socket', socket.path)
    : fail('socket', socket.failure, 'set XDG_RUNTIME_DIR to a shorter folder of your own')
}

function checkPort({ port }: Examination, isServed: boolean): Check[] {
  if (port === null) return [ok('port', 'none is chosen yet')]
  if (port.isFree || isServed) return [ok('port', `${port.number}`)]
  const text = `${port.number} is in use by another program; a leader that a client starts does without it`
  return [warn('port', text, 'headwater serve --port N')]
}

function checkSpace({ freeBytes }: Examination): Check {
  const text = `${Math.floor(freeBytes / MIB)} MiB free`
  const least = LIMITS.ballastBytes + LIMITS.storageReserveBytes
  return freeBytes >= 4 * least
    ? ok('disk', text)
    : warn('disk', `${text}: writing stops when it is full`, 'make room on the disk of this root')
}

function checkAnchor({ anchor, anchoredAt, database }: Examination): Check {
  if (anchor === 'missing' && database.kind !== 'readable') return ok('anchor', 'there is none yet')
  const at = anchoredAt === null ? '' : `, written ${new Date(anchoredAt).toISOString()}`
  if (anchor === 'clean') return ok('anchor', `the last stop was clean${at}`)
  if (anchor === 'unclean' && database.kind === 'owned') return ok('anchor', `the database is in use${at}`)
  if (anchor === 'unclean') return ok('anchor', `the last stop was not clean${at}; the next start sees to it`)
  return warn('anchor', `the anchor file is ${anchor}`)
}

function checkKept({ keptSets, database }: Examination): Check[] {
  if (keptSets.length === 0) return []
  const text = `files of the database from before ${keptSets.length === 1 ? 'an unclean stop' : 'unclean stops'} are kept in ${keptSets[0]}`
  const why = database.kind === 'owned' ? 'until what they touch is checked' : 'the next leader checks what they touch'
  return [warn('kept files', `${text}; ${why}`)]
}

/** A database that its user may not read is not damaged. */
function wayOut(root: string, message: string): string {
  return /permission denied/i.test(message)
    ? `chmod -R u+rwX ${root}`
    : 'put the database back from a backup: move this root aside, then headwater restore BACKUP'
}

function checkDatabase(root: string, { database }: Examination, isServed: boolean): Check[] {
  switch (database.kind) {
    case 'owned':
      return isServed ? [] : [warn('database', 'a leader has it and does not answer', 'headwater logs')]
    case 'none':
      return [ok('database', 'there is none yet; the first leader makes it')]
    case 'unreadable':
      return [fail('database', database.message, wayOut(root, database.message))]
    case 'readable': {
      const { regression, batch, faults } = database
      return [
        regression === null
          ? ok('database', `it opens, at batch ${batch}`)
          : fail('database', regression.message, 'headwater doctor --accept-regression'),
        ...checkFaults(faults),
      ]
    }
    default:
      return database satisfies never
  }
}
