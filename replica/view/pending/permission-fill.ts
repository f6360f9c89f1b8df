import type { PermissionRequest } from '../../../schema/entities/interaction.ts'
import { type CardInput, type Filled, movedMark } from './fill.ts'
import { permissionOption } from './typed-answers.ts'

/** Which option of a permission is marked. */
export interface PermissionFill {
  readonly kind: 'permission'
  readonly marked: number
}

/** A permission that nothing was done about yet. */
export const OPEN_PERMISSION: PermissionFill = { kind: 'permission', marked: 0 }

/** What a person does about a permission; null for what means nothing here. Source: I2, experience 6.3. */
export function fillPermission(
  request: PermissionRequest,
  fill: PermissionFill,
  input: CardInput,
): Filled<PermissionFill> | null {
  const { options } = request
  switch (input.kind) {
    case 'move':
      return { fill: { ...fill, marked: movedMark(fill.marked, input.step, options.length) } }
    case 'choose':
    case 'confirm': {
      const marked = input.kind === 'choose' ? input.index : fill.marked
      const option = options[marked]
      if (option === undefined) return { fill, words: `There are only ${options.length} to choose from.` }
      return { fill: { ...fill, marked }, answer: { kind: 'permission', optionId: option.optionId } }
    }
    case 'deny': {
      const optionId = permissionOption(request, 'deny')
      if (optionId === undefined) return { fill, words: 'Nothing here refuses it; stop the turn instead.' }
      const marked = options.findIndex(option => option.optionId === optionId)
      return { fill: { ...fill, marked }, answer: { kind: 'permission', optionId } }
    }
    default:
      return null
  }
}
