/** What a kind of fault means and what a person does about it. */
export interface FaultWords {
  readonly meaning: string
  readonly next: string
}

const REPAIR = 'headwater doctor --repair ID builds it anew from the ledger'
const CUT =
  'headwater doctor --repair ID names the last good revision; with --to REVISION it cuts the session back to it'
const BACKUP = 'headwater doctor; a backup may have what is missing: headwater restore'
const REGRESSION =
  'put the right database back, or go on with this one: headwater stop, then headwater doctor --accept-regression'
const RESTART = 'make sure the disk is sound, then restart the leader: headwater stop'

/** The kinds of faults that `verify`, `doctor` and `status` name. Source: D1, D2, D4. */
export const FAULT_WORDS: Readonly<Record<string, FaultWords>> = {
  ledger_gap: { meaning: 'a record of the ledger is missing', next: CUT },
  ledger_beyond_head: { meaning: "records stand behind the session's head", next: CUT },
  record_unreadable: { meaning: 'a record of the ledger cannot be read', next: CUT },
  record_misplaced: { meaning: 'a record of the ledger stands in the place of another', next: CUT },
  chain_broken: { meaning: 'a record does not follow on from the one before it', next: CUT },
  hash_mismatch: { meaning: 'a record is not what its hash says', next: CUT },
  head_missing: { meaning: 'the session has records but no head', next: CUT },
  head_mismatch: { meaning: "the session's document and its head do not agree", next: REPAIR },
  more_faults: { meaning: 'the session has more faults than are listed', next: 'headwater doctor --repair ID' },
  contradiction: { meaning: 'the session contradicted itself while it was in use and was set aside', next: REPAIR },
  turn_row_missing: { meaning: 'the row of the running turn is missing', next: REPAIR },
  document_empty: { meaning: 'the document has nothing in it', next: REPAIR },
  gap: { meaning: 'an update in the middle of the document is missing', next: REPAIR },
  document_gap: { meaning: 'the document ends before what the session has come to', next: REPAIR },
  missing: { meaning: 'the document has no beginning', next: REPAIR },
  generation: { meaning: 'parts of the document are of different builds', next: REPAIR },
  head: { meaning: 'an update does not carry the document on', next: REPAIR },
  bytes: { meaning: 'an update of the document cannot be read', next: REPAIR },
  pending: { meaning: 'an update of the document refers to something that is missing', next: REPAIR },
  unreadable: { meaning: 'something that is stored of the session cannot be read', next: REPAIR },
  document_unreadable: { meaning: 'the document cannot be read', next: REPAIR },
  document_differs: { meaning: 'the document is not what the ledger gives', next: REPAIR },
  row_missing: { meaning: 'a derived row is missing', next: REPAIR },
  row_differs: { meaning: 'a derived row is not what the ledger gives', next: REPAIR },
  row_orphan: { meaning: 'a derived row belongs to nothing in the ledger', next: REPAIR },
  row_unreadable: { meaning: 'a derived row cannot be read', next: REPAIR },
  receipt_unreadable: { meaning: 'what became of a command cannot be read', next: 'headwater doctor --repair ID' },
  fork_source_missing: { meaning: 'the session that this one was forked from is missing', next: BACKUP },
  artifact_missing: { meaning: 'a file that the session names is missing', next: BACKUP },
  artifact_damaged: { meaning: 'a file that was attached is not what its name says', next: BACKUP },
  backup_differs: {
    meaning: 'a file of the backup is not what was written',
    next: 'make another backup: headwater backup',
  },
  corruption: { meaning: 'the database found a damaged block of its own', next: BACKUP },
  files_kept: {
    meaning: 'the files of the database from before an unclean stop are kept, because a session in them is damaged',
    next: 'headwater doctor --repair ID; afterwards the files go by themselves',
  },
  behind: { meaning: 'the database ends before what was acknowledged', next: REGRESSION },
  other_database: { meaning: 'the database is not the one of this root', next: REGRESSION },
  missing_batch: { meaning: 'a batch in the middle of the database is missing', next: REGRESSION },
  anchor_missing: { meaning: 'what said how far the database had come is gone', next: REGRESSION },
  anchor_damaged: { meaning: 'what said how far the database had come is damaged', next: REGRESSION },
  recovering: { meaning: 'the storage failed and is being opened again', next: 'wait; writing goes on by itself' },
  fault: { meaning: 'the storage failed and stays read-only', next: RESTART },
}
