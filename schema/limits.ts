/** Every bound of the product, units last in the name. A list, string, buffer or loop without a row here is a fault. */
export const LIMITS = {
  // content (C1)
  messageTextBytes: 48 * 1024,
  messageContentBytes: 96 * 1024,
  attachmentsPerMessage: 8,
  quotesPerMessage: 16,
  quoteTextChars: 32_000,
  quoteLabelChars: 200,
  fileNameChars: 255,
  mimeTypeChars: 255,
  pathBytes: 4 * 1024,
  jsonDepth: 32,
  // sessions (S)
  titleChars: 200,
  autoTitleChars: 80,
  modelChars: 200,
  alwaysAllowedEntries: 256,
  toolNameChars: 200,
  listPageSessions: 100,
  catalogRows: 500,
  catalogRowIntervalMs: 250,
  catalogCandidates: 1_000,
  catalogTickMs: 50,
  loadedSessions: 512,
  /** Sessions from which a fork's entries come, one behind the other. */
  forkDepth: 64,
  /** Records of a deleted session that are removed in one batch. */
  purgeRecords: 1_000,
  /** Artifacts that went with deleted sessions and whose places on the disk are given back one by one. */
  purgeArtifacts: 256,
  // turns (T)
  maxSteps: 10_000,
  failureMessageBytes: 1024,
  failureClassChars: 64,
  stopCutoffMs: 5_000,
  maxActiveTurns: 32,
  claimBytes: 8 * 1024,
  // queue (Q)
  queueEntries: 64,
  queueBytes: 256 * 1024,
  queueHoldMs: 60_000,
  queueHolderGoneMs: 15_000,
  /** Clients that left, of which a leader knows that they did. */
  departedClients: 1_024,
  // plans and tasks (P, K)
  planSteps: 50,
  planStepTitleChars: 120,
  planStepDescriptionBytes: 2 * 1024,
  planStepFiles: 64,
  planTextBytes: 32 * 1024,
  planFeedbackBytes: 8 * 1024,
  planProposalBytes: 64 * 1024,
  planPageItems: 16,
  planDiffCells: 40_000,
  planDiffPages: 64,
  tasks: 200,
  tasksBytes: 256 * 1024,
  taskTextChars: 1_000,
  taskKeyChars: 64,
  taskPageTasks: 128,
  // children (T13)
  childrenPerRun: 64,
  childDepth: 8,
  /** In a root, beside the turns that take places (E9). */
  childrenRunning: 256,
  childAnswerChars: 1024 * 1024,
  /** How long a stopped run waits for its children beyond their cut-off, so that their ends are stored first. */
  childStopGraceMs: 1_000,
  // interactions (I)
  interactionRequestBytes: 64 * 1024,
  interactionsPending: 16,
  interactionsPendingBytes: 256 * 1024,
  questionsPerInteraction: 8,
  optionsPerQuestion: 8,
  permissionOptions: 16,
  formFields: 64,
  interactionTextChars: 8_000,
  interactionListPage: 100,
  /** Cards settled by others that are told about at once: the newest. */
  pendingSettledTold: 3,
  /** Sessions of which a terminal remembers what was filled in and not sent. */
  pendingDecks: 64,
  /** What is read of a long text that permission is asked for. */
  pendingTextBytes: 1024 * 1024,
  // transcript, ledger, artifacts (L)
  liveTranscriptEntries: 128,
  liveTranscriptBytes: 256 * 1024,
  segmentEntries: 64,
  transcriptPageEntries: 200,
  ledgerPageRecords: 200,
  /** Where a page of any list ends early; its first item always fits. */
  pageBytes: 1024 * 1024,
  textBlockBytes: 16 * 1024,
  deltaTickMs: 33,
  streamedMessages: 64,
  toolUpdatesPerSecond: 4,
  toolTailBytes: 4 * 1024,
  inlineTextBytes: 32 * 1024,
  artifactBytes: 64 * 1024 * 1024,
  uploadsBytes: 128 * 1024 * 1024,
  artifactPieceBytes: 256 * 1024,
  artifactPreviewBytes: 2 * 1024,
  artifactPieces: 256,
  /** How long an artifact stays that was uploaded and that nothing names yet. */
  artifactUnnamedMs: 86_400_000,
  // runs and agents (T9, X15)
  runCallsInFlight: 4_096,
  runOutputInFlightBytes: 16 * 1024 * 1024,
  toolCallsPerRun: 65_536,
  toolTitleChars: 1_000,
  agentPlanEntries: 200,
  agentPlanTextChars: 1_000,
  usageBytes: 8 * 1024,
  agentIdleEndMs: 300_000,
  agentStartMs: 120_000,
  agentCancelMs: 3_000,
  agentEndStageMs: 2_000,
  agentMessageBytes: 32 * 1024 * 1024,
  agentStderrBytes: 8 * 1024,
  agentUpdatesQueued: 256,
  agentUpdateBytesQueued: 4 * 1024 * 1024,
  agentSessionIdChars: 512,
  backendsConfigured: 64,
  agentCommandParts: 64,
  agentEnvironmentEntries: 64,
  // projection and subscription (V)
  presenceRows: 32,
  presenceIntervalMs: 1_000,
  presenceRenewMs: 20_000,
  quietUpdateMs: 5_000,
  stateVectorBytes: 16 * 1024,
  unreadFrames: 1_024,
  unreadBytes: 4 * 1024 * 1024,
  documentBytes: 4 * 1024 * 1024,
  documentGarbageBytes: 1024 * 1024,
  documentWriterIds: 256,
  socketBufferBytes: 64 * 1024,
  outboundDropBytes: 1024 * 1024,
  outboundCloseBytes: 8 * 1024 * 1024,
  outboundStallMs: 30_000,
  // liveness and back-off (V9)
  pingIntervalMs: 5_000,
  deadLinkMs: 12_000,
  reconnectFirstMs: 100,
  reconnectCapMs: 10_000,
  reconnectResetMs: 10_000,
  wakeProbeMs: 3_000,
  connectDeadlineMs: 45_000,
  spawnRetryFirstMs: 20,
  spawnRetryCapMs: 250,
  /** Between one candidate's end and the next one's start, at most. */
  candidateRetryCapMs: 2_000,
  candidateLogBytes: 1024 * 1024,
  closeConfirmMs: 2_000,
  // wire (W, Z)
  commandFrameBytes: 256 * 1024,
  commandsInFlight: 64,
  /** Commands a replica keeps while as many as allowed are in flight. */
  commandsQueued: 1_024,
  /** Documents one connection of a replica follows at once. */
  openDocuments: 512,
  /** The largest message a replica takes from a leader. */
  leaderMessageBytes: 16 * 1024 * 1024,
  httpAnswerBytes: 16 * 1024 * 1024,
  commandsPerSecond: 20_000,
  syncRequestsPerSecond: 50,
  helloTimeoutMs: 5_000,
  preAuthBytes: 16 * 1024,
  preAuthConnections: 256,
  preAuthWaiting: 1_024,
  heartbeatTickMs: 1_000,
  messageFragments: 16 * 1024,
  credentials: 64,
  drainRetryMs: 500,
  metricLabelSets: 512,
  logFileBytes: 10 * 1024 * 1024,
  logFiles: 5,
  surfaceChars: 64,
  // storage
  laneItems: 4_096,
  /** Facts a session remembers because look-ups under way may not see them on disk, in each of two generations. */
  recentFacts: 1_024,
  /** How long commands are left without an answer while it is not known whether they are stored. */
  outcomeWaitMs: 1_000,
  /** Unloaded sessions of which an epoch remembers what it told about them. */
  rememberedSessions: 262_144,
  updatesPerSnapshot: 1_024,
  updatesPerLog: 4_096,
  batchBytes: 4 * 1024 * 1024,
  batchTransitions: 256,
  commitQueueWrites: 65_536,
  commitQueueBytes: 64 * 1024 * 1024,
  databaseWriteBufferBytes: 16 * 1024 * 1024,
  databaseCacheBytes: 32 * 1024 * 1024,
  documentLogUpdates: 1_000_000,
  storeScanRows: 100_000,
  storeReadWaitMs: 10_000,
  storageReserveBytes: 4 * 1024 * 1024,
  storageProbeBytes: 64 * 1024,
  ballastBytes: 16 * 1024 * 1024,
  storageProbeIntervalMs: 2_000,
  ownershipProofMs: 5_000,
  /** Newest batches whose presence is checked when a database is opened. */
  batchRing: 8_192,
  anchorIntervalMs: 5_000,
  anchorBytes: 4 * 1024,
  /** Sets of database files kept aside after unclean stops. */
  keptSets: 8,
  keptFiles: 256,
  // verify, repair, backup, compaction (D2, D3, L6)
  verifyRowBytes: 64 * 1024 * 1024,
  verifySessionFaults: 100,
  verifyFaults: 1_000,
  verifyArtifactsNamed: 4_096,
  verifyProgressMs: 100,
  repairFiles: 10_000,
  backupNoteBytes: 16 * 1024,
  compactionsNoted: 64,
  compactionBatchRecords: 512,
  // export and import of sessions (D5)
  exportLineBytes: 32 * 1024 * 1024,
  exportArtifacts: 100_000,
  /** Proposals and executions whose steps a transcript for people shows: the newest. */
  exportPlans: 256,
  importSharedRowBytes: 64 * 1024 * 1024,
  // data root (R)
  markerBytes: 4 * 1024,
  registrationBytes: 8 * 1024,
  tokenFileBytes: 4 * 1024,
  rootPortFirst: 20_000,
  rootPortLast: 29_999,
  rootPortProbes: 512,
  lockReserveBytes: 64 * 1024,
  lockRetryMs: 500,
  lockRetryStepMs: 20,
  nameRetryMs: 1_000,
  rootViews: 1_024,
  viewFiles: 1_000_000,
  // life of a leader (E)
  idleGraceMs: 30_000,
  firstConnectionMs: 60_000,
  shutdownGraceMs: 10_000,
  socketPathBytes: 100,
  // offline copies (O)
  cacheBytes: 200 * 1024 * 1024,
  cacheEntryBytes: 32 * 1024 * 1024,
  cacheFiles: 100_000,
  cacheHistoryEntries: 10_000,
  cacheWriteIntervalMs: 2_000,
  cacheWriteTickMs: 250,
  // what screens read (experience 10)
  /** How long a session is followed after its last reader, so that going away and coming back at once costs nothing. */
  storeLingerMs: 1_000,
  /** Sessions without a reader whose last view is still known. */
  storeIdleSessions: 16,
  storeHistoryEntries: 10_000,
  /** How long a page of history may take before the copies are read instead. */
  storePageMs: 10_000,
  storePendingPages: 8,
  /** How often open interactions are read again while there are any: the list of sessions tells their number only. */
  storePendingRefreshMs: 5_000,
  // transcript on the screen (experience 6.5)
  /** Text of one row; a longer message goes on in the next row. */
  transcriptRowChars: 256 * 1024,
  transcriptRowsLaidOut: 512,
  transcriptLinesLaidOut: 65_536,
  transcriptUnfoldedRows: 1_024,
  transcriptTurnsKnown: 1_024,
  foldedLines: 24,
  /** Code units one cell of a line may have, so that marks without width cannot pile up in it. */
  unitsPerCell: 16,
  linkChars: 2_048,
  widthsRemembered: 4_096,
  markdownDepth: 8,
  /** Paragraphs beyond these are shown as they were written. */
  markdownInlineChars: 16 * 1024,
  markdownInlineMarks: 1_024,
  markdownTableCells: 2_048,
  // timeline of a ledger (experience 9.1)
  timelineWordsChars: 240,
  /** Steps that began and did not end yet. */
  timelineOpenSteps: 4_096,
  /** Durations of one step that median and percentile are made of: the newest. */
  timelineDurations: 10_000,
  timelineMinutes: 240,
  timelineRows: 5_000,
  inspectedRecordChars: 512 * 1024,
  /** Records in one JSON value; more of them come as lines. */
  inspectedRecords: 2_000,
  // command line
  configBytes: 256 * 1024,
  /** Words that a shell is offered for one. */
  completions: 500,
  /** Commands and sessions that a palette shows at once, and the text it looks for. */
  pickedEntries: 600,
  filterChars: 200,
  keymapBytes: 64 * 1024,
  keymapBindings: 500,
  /** Faults of a file of settings that are named. */
  settingsProblems: 16,
  /** How long a changed file of settings is left alone before it is read. */
  settingsSettleMs: 100,
  finalTextChars: 16 * 1024 * 1024,
  listedPages: 100,
  followLostMs: 45_000,
  stopWaitMs: 20_000,
  renameAttempts: 3,
  logTailBytes: 64 * 1024,
  // terminal (experience 7)
  /** An escape sequence that comes in; what is longer is none. */
  terminalSequenceChars: 4 * 1024,
  /** A longer paste comes in pieces. */
  terminalPasteChars: 1024 * 1024,
  /** Keys that wait until what came before them is drawn; the terminal is not read meanwhile. */
  terminalKeysWaiting: 256,
  terminalTitleChars: 200,
  terminalNotificationChars: 200,
  /** As base64 just below what terminals take in one sequence. */
  terminalCopyBytes: 74_994,
  /** Titles, bells and clipboard texts that wait for a slow terminal; what is more is dropped. */
  terminalWaitingBytes: 256 * 1024,
  terminalFramesPerSecond: 30,
  // linear mode (experience 7.3)
  /** Lines that wait for a slow terminal, and those that are given to it at once. */
  linearLinesWaiting: 10_000,
  linearLinesWritten: 64,
  linearLedgerRows: 20,
  linearListedSessions: 50,
  /** Typed lines of one long message. */
  linearMessageLines: 2_000,
  /** Typed lines that wait until those before them are done with. */
  linearTypedLines: 256,
  /** An answer right behind its question was meant for something else. */
  linearAnswerGraceMs: 400,
  // composer of the terminal (experience 6.1)
  /** What one draft holds at most, folded pastes included. */
  composerBytes: 2 * 1024 * 1024,
  /** A longer text that comes in at once stands folded, so that every key stays fast. */
  composerPlainChars: 64 * 1024,
  /** A paste of more lines or more characters stands as one character. */
  composerPasteLines: 5,
  composerPasteChars: 1_000,
  composerFolds: 256,
  composerKills: 16,
  composerKillChars: 4 * 1024 * 1024,
  composerUndo: 256,
  composerUndoChars: 4 * 1024 * 1024,
  /** Messages of one session on their way to the leader at once. */
  composerSending: 16,
  composerQueryChars: 200,
  historyEntries: 1_000,
  historyEntryBytes: 256 * 1024,
  historyBytes: 4 * 1024 * 1024,
  /** Texts that are too long for the disk. */
  historyLargeEntries: 8,
  historyFiles: 64,
  draftSaveMs: 300,
  draftFiles: 256,
  draftFileBytes: 16 * 1024 * 1024,
  draftsBytes: 64 * 1024 * 1024,
  /** Sessions whose draft is in memory. */
  draftsOpen: 64,
} as const
