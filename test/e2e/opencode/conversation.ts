/** How a turn ended, as a person would read it. */
export interface TurnEnd {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly failureClass?: string
}

/** A permission the agent asks for. */
export interface AskedPermission {
  readonly title: string
  readonly toolKind: string
}

/** A turn that was started. What it shows is read from the session, never from the agent. */
export interface StartedTurn {
  /** Resolves when the answer so far contains the text; gives the whole of it. */
  waitForText(text: string): Promise<string>
  waitForPermission(): Promise<AskedPermission>
  answerPermission(decision: 'allow' | 'reject'): Promise<void>
  /** Titles and states of the tool calls. */
  tools(): Promise<readonly { readonly title: string; readonly status: string }[]>
  stop(): Promise<void>
  /** Resolves when the turn has ended. */
  ended(): Promise<TurnEnd>
}

/** One session with the agent. */
export interface Conversation {
  /** How a turn ends that ran at a `kill`. */
  readonly killedTurn: TurnEnd
  start(text: string): Promise<StartedTurn>
  /** Ends what serves the session as a crash would, and brings a successor up on it. */
  kill(): Promise<void>
  /** What is alive of the agent. */
  agentProcesses(): Promise<readonly number[]>
  /** Ends everything in good order; rejects if anything is left or not in order. */
  close(): Promise<void>
  /** Ends whatever is left, by force. */
  dispose(): Promise<void>
}
