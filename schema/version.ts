/** The package's version; a test compares it with package.json. */
export const VERSION = '0.1.0'

/**
 * The command protocol's range. History: 1 = first release.
 * `min` is the oldest protocol this build still speaks.
 */
export const PROTOCOL = { min: 1, max: 1 } as const

/** The data root's format. History: 1 = first release. */
export const DATA_FORMAT = 1

/** The session document's layout, kept in its `origin` section. History: 1 = first release. */
export const DOCUMENT_SCHEMA = 1
