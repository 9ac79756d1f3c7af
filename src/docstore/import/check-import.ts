/** What importLines() may be given, checked before the collection is made, or anything loaded that needs Node. */
import { PetalError } from '../../model/errors.ts'
import { checkThreads, knownThreads, type ThreadsOption } from '../bulk/threads-option.ts'
import type { Known } from '../known-options.ts'
import { assertBoolean, assertOptions, assertWholeNumber } from '../option-checks.ts'
import type { ImportResult } from './import-run.ts'
import type { BadLine } from './read-line.ts'

export interface ImportOptions extends ThreadsOption {
  /** End the import at the first line that cannot be imported, with its BadLine. Default false: skip it. */
  readonly strict?: boolean
  /** Documents written together. Default 1,000. */
  readonly batch?: number
  /**
   * Bytes of the source, where they are known and it is not an array, whose are: what comes is divided the more evenly among
   * threads. Nothing else depends on it.
   */
  readonly sourceBytes?: number | undefined
  /** Ends the import with an AbortedError; what was imported stays. */
  readonly signal?: AbortSignal
  /** Told of every line that is skipped. */
  readonly onSkipped?: (bad: BadLine) => void
  /** Told after every run that is in the database. */
  readonly onProgress?: (progress: ImportResult) => void
}

const knownImportOptions = {
  ...knownThreads,
  strict: true,
  batch: true,
  sourceBytes: true,
  signal: true,
  onSkipped: true,
  onProgress: true
} satisfies Known<ImportOptions>

/** @param such what gives them, where a text was given */
export function notBytes(wanted: string, value: unknown, such: string): PetalError {
  const advice = typeof value === 'string' ? `; ${such} gives them` : ''
  return new PetalError('BadValue', `importLines takes ${wanted}, got ${typeof value}${advice}`)
}

/** @throws PetalError BadValue */
export function checkImport(source: unknown, options: ImportOptions): void {
  assertOptions('importLines', options, knownImportOptions)
  const { batch, sourceBytes } = options
  const isSource =
    typeof source === 'object' && source !== null && (Symbol.asyncIterator in source || Symbol.iterator in source)
  if (!isSource) throw notBytes('an iterable of bytes', source, 'createReadStream(path)')
  assertBoolean('strict', options.strict)
  if (batch !== undefined) assertWholeNumber('batch', batch, 1)
  if (sourceBytes !== undefined) assertWholeNumber('sourceBytes', sourceBytes)
  checkThreads(options)
}
