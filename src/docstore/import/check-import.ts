/** Options of importLines(), checked before the collection is created or any Node-only code is loaded. */
import { PetalError } from '../../model/errors.ts'
import { describeType } from '../../model/types.ts'
import type { Known } from '../known-options.ts'
import { assertBoolean, assertOptions, assertWholeNumber } from '../option-checks.ts'
import { checkThreads, knownThreads, type ThreadsOption } from '../threads/threads-option.ts'
import type { ImportResult } from './import-run.ts'
import type { BadLine } from './read-line.ts'

/** Options of importLines(). */
export interface ImportOptions extends ThreadsOption {
  /** Abort the import with a BadLine at the first line that cannot be imported. Default false: skip such lines. */
  readonly strict?: boolean | undefined
  /** Documents per write batch. Default 1,000. */
  readonly batch?: number | undefined
  /**
   * Size of the source in bytes, if known; determined automatically for an array. Only used to divide the work more
   * evenly among threads.
   */
  readonly sourceBytes?: number | undefined
  /**
   * Aborts the import with an AbortedError, whose `details` have the counts of an ImportResult: lines imported by then
   * are kept.
   */
  readonly signal?: AbortSignal | undefined
  /** Called for every skipped line, in the order of the lines. */
  readonly onSkipped?: ((bad: BadLine) => void) | undefined
  /** Called after every committed batch. */
  readonly onProgress?: ((progress: ImportResult) => void) | undefined
}

/** That of Linux, in bytes; other systems have shorter ones. */
const maxPathLength = 4096

const knownImportOptions = {
  ...knownThreads,
  strict: true,
  batch: true,
  sourceBytes: true,
  signal: true,
  onSkipped: true,
  onProgress: true
} satisfies Known<ImportOptions>

export function notBytes(wanted: string, value: unknown): PetalError {
  const example = 'createReadStream(path) without an encoding, or Buffer.from(text)'
  const advice = typeof value === 'string' ? `; use ${example}` : ''
  return new PetalError('BadValue', `importLines takes ${wanted}, got ${describeType(value)}${advice}`)
}

export function isPath(source: unknown): source is string | URL {
  return typeof source === 'string' || source instanceof URL
}

/** @throws PetalError BadValue */
export function checkImport(source: unknown, options: ImportOptions): void {
  assertOptions('importLines', options, knownImportOptions)
  const { batch, sourceBytes } = options
  const isSource =
    typeof source === 'object' && source !== null && (Symbol.asyncIterator in source || Symbol.iterator in source)
  // An iterable of numbers.
  if (source instanceof Uint8Array) {
    throw new PetalError('BadValue', 'importLines takes an iterable of chunks of bytes; for a single one use [bytes]')
  }
  if (!isSource && !isPath(source)) throw notBytes('the path of a file, or an iterable of bytes', source)
  if (typeof source === 'string' && (source.length > maxPathLength || source.includes('\n'))) {
    throw new PetalError('BadValue', 'importLines takes the path of a file; for lines use [Buffer.from(lines)]')
  }
  assertBoolean('strict', options.strict)
  if (batch !== undefined) assertWholeNumber('batch', batch, 1)
  if (sourceBytes !== undefined) assertWholeNumber('sourceBytes', sourceBytes)
  checkThreads(options)
}
