/** What a migration works on: a root whose database is closed, and of which a backup was made. */
export interface MigratedRoot {
  readonly path: string
  readonly databasePath: string
}

/**
 * One step from a data format to the next. It opens and closes the database itself and may be cut off anywhere: the next start puts the
 * database back from the backup and begins again. Source: M1.
 */
export interface Migration {
  readonly from: number
  readonly to: number
  run(root: MigratedRoot): Promise<void>
}

/** Every step there is, oldest first. Format 1 is the first one, so there is none yet. */
export const MIGRATIONS: readonly Migration[] = []
