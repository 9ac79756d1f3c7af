/** Options of watch(), checked here, once. */
import { PetalError } from '../../model/errors.ts'
import type { Known } from '../known-options.ts'
import { wholeNumber } from '../option-checks.ts'
import type { FullDocumentFlags } from './change.ts'
import { cannotResume } from './errors.ts'

/** Options of a change stream. */
export interface ChangeStreamOptions {
  /**
   * Whether update events include the full document beside the changed fields: all values but `'default'` do, and
   * always exactly as the update left it, never a later version. Inserts and replacements always include it. Default
   * `'default'`.
   */
  readonly fullDocument?: 'default' | 'updateLookup' | 'whenAvailable' | 'required' | undefined
  /**
   * Whether update, replace and delete events include the document before the change: all values but `'off'` do.
   * Default `'off'`.
   */
  readonly fullDocumentBeforeChange?: 'off' | 'whenAvailable' | 'required' | undefined
  /**
   * Approximate bytes of events buffered for a slow consumer; a single event is buffered whatever its size. Beyond the
   * limit the stream fails with ChangeStreamHistoryLost. Default 16 MiB.
   */
  readonly maxBufferedBytes?: number | undefined
  /** Closes the stream. */
  readonly signal?: AbortSignal | undefined
}

/** Includes the options for resuming, which are rejected with an error of their own. */
export const knownWatchOptions = {
  fullDocument: true,
  fullDocumentBeforeChange: true,
  maxBufferedBytes: true,
  signal: true,
  resumeAfter: true,
  startAfter: true,
  startAtOperationTime: true
} satisfies Known<ChangeStreamOptions> & Readonly<Record<string, true>>

const fullDocuments = ['default', 'updateLookup', 'whenAvailable', 'required']
const beforeChanges = ['off', 'whenAvailable', 'required']
const resuming = ['resumeAfter', 'startAfter', 'startAtOperationTime']
const defaultBufferedBytes = 16 * 1024 * 1024

/** @throws PetalError BadValue; CommandNotSupported for options that resume from earlier events */
export function checkWatch(options: ChangeStreamOptions): FullDocumentFlags & { readonly maxBufferedBytes: number } {
  for (const option of resuming) {
    const value = (options as Readonly<Record<string, unknown>>)[option]
    if (value !== undefined && value !== null) throw cannotResume(option)
  }
  const { fullDocument = 'default', fullDocumentBeforeChange = 'off' } = options
  assertOneOf('fullDocument', fullDocuments, fullDocument)
  assertOneOf('fullDocumentBeforeChange', beforeChanges, fullDocumentBeforeChange)
  return {
    fullDocument: fullDocument !== 'default',
    beforeChange: fullDocumentBeforeChange !== 'off',
    maxBufferedBytes: wholeNumber('maxBufferedBytes', options.maxBufferedBytes, defaultBufferedBytes)
  }
}

function assertOneOf(option: string, choices: readonly string[], value: unknown): void {
  if (choices.includes(value as string)) return
  const got = typeof value === 'string' ? `'${value}'` : value === null ? 'null' : typeof value
  const wanted = choices.map((choice) => `'${choice}'`).join(', ')
  throw new PetalError('BadValue', `${option} must be one of ${wanted}, got ${got}`, { details: { option } })
}
