/** What a caller of watch() may choose; checked here, once. */
import { PetalError } from '../../model/errors.ts'
import type { Known } from '../known-options.ts'
import { wholeNumber } from '../option-checks.ts'
import type { Wants } from './change.ts'
import { cannotResume } from './errors.ts'

/** How changes are told. */
export interface ChangeStreamOptions {
  /**
   * Whether an update tells the document after it, beside what was changed: all but `'default'` do, and always exactly as the
   * update left it. Inserts and replacements always tell it. Default `'default'`.
   */
  readonly fullDocument?: 'default' | 'updateLookup' | 'whenAvailable' | 'required'
  /** Whether updates, replacements and deletions tell the document before them: all but `'off'` do. Default `'off'`. */
  readonly fullDocumentBeforeChange?: 'off' | 'whenAvailable' | 'required'
  /**
   * Bytes of changes that are held for a consumer who is behind, about; one change is held whatever its size. Beyond them the
   * stream fails with ChangeStreamHistoryLost. Default 16 MiB.
   */
  readonly maxBufferedBytes?: number
  /** Ends the stream. */
  readonly signal?: AbortSignal
}

/** Among them those that take up earlier events, which have an error of their own. */
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

/** @throws PetalError BadValue; CommandNotSupported for what takes up earlier events */
export function checkWatch(options: ChangeStreamOptions): Wants & { readonly maxBufferedBytes: number } {
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
