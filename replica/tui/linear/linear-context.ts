import type { ReplicaStore } from '../../react/types.ts'
import type { TuiOptions } from '../options.ts'
import type { LineOutput } from './line-output.ts'

/** What every part of the linear mode uses. `selfId` is the `clientInstanceId` of this replica, where it is known. */
export interface LinearContext {
  readonly options: TuiOptions
  readonly store: ReplicaStore
  readonly out: LineOutput
  readonly selfId?: string
}
