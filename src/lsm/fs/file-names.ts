/**
 * The names of a database's files. A file whose name parses may be deleted once nothing needs it, so a name is ours
 * only if we could have written it exactly so.
 */
export const currentName = 'CURRENT'
export const lockName = 'LOCK'
const manifestPrefix = 'MANIFEST-'

export type FileKind = 'table' | 'log' | 'manifest' | 'side' | 'temporary' | 'current' | 'lock'

export interface ParsedName {
  readonly kind: FileKind
  /** The file number; 0 for kinds that have none. */
  readonly number: number
}

export function tableName(number: number): string {
  return `${digits(number)}.sst`
}

export function logName(number: number): string {
  return `${digits(number)}.wal`
}

/** The side file of a table, with its value sections. */
export function sideFileName(number: number): string {
  return `${digits(number)}.vf`
}

export function manifestName(number: number): string {
  return `${manifestPrefix}${digits(number)}`
}

/** A file that is renamed when complete; one left behind by a crash is removed at the next open. */
export function temporaryName(number: number): string {
  return `${digits(number)}.tmp`
}

/** A lock record before it becomes LOCK. */
export function lockRecordName(nonce: string): string {
  return `${lockName}-${nonce}.tmp`
}

/** Held while the stale lock with this nonce is replaced. */
export function lockBreakName(nonce: string): string {
  return `${lockName}-${nonce}.break.tmp`
}

/** Parses a file name in a database's directory; undefined if it is not ours. */
export function parseFileName(name: string): ParsedName | undefined {
  const start = name.startsWith(manifestPrefix) ? manifestPrefix.length : 0
  const dot = name.indexOf('.')
  const text = name.slice(start, dot < 0 ? name.length : dot)
  const number = Number(text)
  // A number with superfluous zeros, or one that is too large, is not ours.
  if (!Number.isSafeInteger(number) || number < 0 || digits(number) !== text) return parseUnnumbered(name)
  const suffix = dot < 0 ? undefined : name.slice(dot + 1)
  const kind = start === 0 ? kindOfSuffix(suffix) : suffix === undefined ? 'manifest' : undefined
  return kind && { kind, number }
}

function parseUnnumbered(name: string): ParsedName | undefined {
  if (name === currentName) return { kind: 'current', number: 0 }
  if (name === lockName) return { kind: 'lock', number: 0 }
  return /^LOCK-[0-9a-f]{32}(\.break)?\.tmp$/.test(name) ? { kind: 'temporary', number: 0 } : undefined
}

function kindOfSuffix(suffix: string | undefined): FileKind | undefined {
  if (suffix === 'sst') return 'table'
  if (suffix === 'wal') return 'log'
  if (suffix === 'vf') return 'side'
  if (suffix === 'tmp') return 'temporary'
  return undefined
}

function digits(number: number): string {
  return String(number).padStart(6, '0')
}
