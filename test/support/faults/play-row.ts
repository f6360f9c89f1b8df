import type { Damage } from './damage.ts'
import { digestsBelow } from './damage.ts'
import type { Found, Ledgers } from './ledgers.ts'
import { adviceIn, failedChecks, follow } from './remedy.ts'
import { type CustomRow, type FaultRow, joinOutcomes, nameOf, type RowOutcome } from './row.ts'
import { type Service, serveOnce } from './serve.ts'
import type { RootTemplate } from './template.ts'
import { faultsIn, plainText, type Told, tell } from './told.ts'

const MOST_ADVICE = 8

/** Damages a root, looks at it with every tool a user has, does what they say, and tells what came of it. */
export async function playRow(template: RootTemplate, row: FaultRow | CustomRow): Promise<RowOutcome> {
  if ('name' in row) return await row.play(template)
  const outcomes: RowOutcome[] = []
  for (const damage of row.damages) outcomes.push(await playOnce(template, row, damage))
  return joinOutcomes(outcomes)
}

async function playOnce(template: RootTemplate, row: FaultRow, make: FaultRow['damages'][number]): Promise<RowOutcome> {
  const acknowledged = template.restore(row.ending)
  let damage: Damage | null = null
  const doDamage = (): void => {
    damage = make(template)
  }
  if (row.isServed !== true) doDamage()
  const served = row.isServed === true ? await serveOnce(template, acknowledged, doDamage) : null
  const made = damage as Damage | null
  if (made?.isDone !== true) return nothingThere(row)
  const verify = await tell(template, 'verify')
  const doctor = await tell(template, 'doctor')
  const service = served ?? (await serveOnce(template, acknowledged))
  const isKept = [...made.kept].every(digest => digestsBelow(template.root).has(digest))
  const isWhole = [...service.sessions.values()].every(word => word === 'equal') && service.faults.length === 0
  const isUsable = service.refusal === null && service.usable.length === acknowledged.size
  const isWell = isWhole && isUsable && verify.exit === '0'
  const remedy = isWell ? null : await applyRemedy(template, acknowledged, doctor)
  const seen = { row, acknowledged, verify, doctor, service, isKept, isWell, remedy }
  return {
    title: nameOf(row),
    sessions: sessionsText(seen),
    leader: leaderText(seen),
    verify: verifyText(seen),
    doctor: doctorText(seen),
    remedy: remedyText(seen),
    violations: violations(seen),
  }
}

interface Remedy {
  readonly text: string
  readonly works: boolean
}

interface Seen {
  readonly row: FaultRow
  readonly acknowledged: Ledgers
  readonly verify: Told
  readonly doctor: Told
  readonly service: Service
  readonly isKept: boolean
  readonly isWell: boolean
  readonly remedy: Remedy | null
}

function nothingThere(row: FaultRow): RowOutcome {
  const none = 'no such file'
  return { title: nameOf(row), sessions: none, leader: '', verify: '', doctor: '', remedy: '', violations: [] }
}

/** A command line without the command. */
const isUnserved = (told: Told): boolean => told.code === 'usage'

/** Does what the doctor says, and what is said to that, until the root is well. */
async function applyRemedy(template: RootTemplate, acknowledged: Ledgers, doctor: Told): Promise<Remedy> {
  const done: string[] = []
  const ahead = [...adviceIn(doctor)]
  for (let advice = ahead.shift(); advice !== undefined && done.length < MOST_ADVICE; advice = ahead.shift()) {
    const told = await follow(template, advice)
    if (told === null) continue
    done.push(told.exit === '0' ? plain(advice) : `${plain(advice)}\`, refused with \`${told.code}`)
    if (told.exit !== '0') {
      // What cannot be repaired is what is said next, before anything else.
      ahead.unshift(...adviceIn(told).filter(next => next !== advice && !done.includes(next)))
      continue
    }
    if (ahead.length > 0) continue
    const verify = await tell(template, 'verify')
    const service = await serveOnce(template, acknowledged)
    const isUsable = service.refusal === null && service.usable.length > 0 && service.faults.length === 0
    if (verify.exit === '0' && isUsable) {
      return { text: `\`${done.join('`, `')}\` works: ${found(service.sessions)}`, works: true }
    }
    ahead.push(...adviceIn(await tell(template, 'doctor')).filter(next => !done.includes(plain(next))))
  }
  if (done.length === 0) return { text: 'nothing was said', works: false }
  return { text: `\`${done.join('`, `')}\` does not help`, works: false }
}

/** Paths of a run are no words of the page. */
const plain = (command: string): string => command.replaceAll(/\/\S+/g, 'DIR')

function found(sessions: ReadonlyMap<string, Found>): string {
  const byWord = new Map<Found, string[]>()
  for (const [sessionId, word] of sessions) byWord.set(word, [...(byWord.get(word) ?? []), sessionId])
  if (byWord.size === 1) return `all ${[...byWord.keys()][0]}`
  return [...byWord].map(([word, ids]) => `${ids.join(', ')} ${word}`).join('; ')
}

function sessionsText({ row, service }: Seen): string {
  if (row.varies === true) return 'each equal or quarantined; or named as older; or none served'
  if (service.refusal !== null) return 'none served'
  return found(service.sessions)
}

function leaderText({ row, service }: Seen): string {
  if (row.varies === true) return 'serves, or refuses plainly'
  if (service.refusal !== null) return toldText(service.refusal)
  const faults = service.faults.length === 0 ? '' : `; status names ${service.faults.join(', ')}`
  return `serves${faults}${service.ending === null ? '' : `; ends with ${service.ending}`}`
}

function verifyText({ row, verify, service }: Seen): string {
  if (row.varies === true) return 'names what is damaged'
  const { kinds } = faultsIn(verify)
  const text = kinds.length === 0 ? toldText(verify) : `exit ${verify.exit}: ${kinds.join(', ')}`
  const online = service.verify === null || service.verify.kinds.length === kinds.length ? '' : onlineText(service)
  return `${text}${online}`
}

const onlineText = ({ verify }: Service): string =>
  `; by the leader: ${verify?.kinds.length === 0 ? 'no faults' : verify?.kinds.join(', ')}`

function remedyText({ row, remedy }: Seen): string {
  if (row.varies === true && remedy?.works !== false) return 'works, where there is something to do'
  return remedy === null ? 'nothing to do' : remedy.text
}

function doctorText({ row, doctor }: Seen): string {
  if (row.varies === true) return 'says what to do'
  const failed = failedChecks(doctor).map(
    ({ name, next }) => `${name}${next === undefined ? '' : ` → ${plainText(next)}`}`,
  )
  return failed.length === 0 ? toldText(doctor) : `exit ${doctor.exit}: ${failed.join('; ')}`
}

function toldText({ exit, code, sentence }: Told): string {
  if (code === null) return exit === '0' ? 'no faults' : `exit ${exit}, without a word`
  return `exit ${exit} \`${code}\`: ${sentence}`
}

/** The invariants that a row broke. */
function violations(seen: Seen): readonly string[] {
  const { verify, doctor, service, isKept, isWell, remedy } = seen
  const broken: string[] = []
  const isNamed = verify.exit !== '0' || service.faults.length > 0
  for (const [sessionId, word] of service.sessions) {
    if (word === 'never opened') broken.push('a damaged session is never opened, and never refused')
    if (word === 'empty') broken.push(`${sessionId} is shown as empty`)
    if ((word === 'went back' || word === 'missing' || word === 'read in part') && !isNamed)
      broken.push(`${sessionId} ${word} and nothing says so`)
  }
  if (service.refusal !== null && service.refusal.code === null) {
    broken.push(`the leader ended without a word (${service.refusal.exit})`)
  }
  if (service.ending !== null) broken.push(`the leader ended with ${service.ending}`)
  if (verify.code === null && verify.exit !== '0') broken.push(`verify ended without a word (${verify.exit})`)
  if (isWell) return broken
  if (!isKept) broken.push('damaged bytes are gone')
  const equal = [...service.sessions].filter(([, word]) => word === 'equal').map(([sessionId]) => sessionId)
  const isReadOnly = service.faults.some(code => code === 'root_regressed' || code === 'storage_fault')
  const unusable = equal.filter(sessionId => !service.usable.includes(sessionId))
  if (!isReadOnly && unusable.length > 0) broken.push(`${unusable.join(', ')} cannot be used`)
  const isHarmed = service.faults.length > 0 || [...service.sessions.values()].some(word => word !== 'equal')
  if (verify.exit === '0' && isHarmed) broken.push('verify finds nothing')
  if (isUnserved(doctor)) broken.push('there is no doctor')
  else if (remedy?.works !== true) broken.push('doing what doctor says does not help')
  return broken
}
