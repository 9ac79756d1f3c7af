/** One line of an import as something to insert, or what is wrong with it. */
import { isUtf8 } from 'node:buffer'
import { type ErrorName, PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import { JsonRecord, readDocument } from '../documents/json-record.ts'
import type { Line } from './line-splitter.ts'

/**
 * A document has at most 16 MiB as it is stored; escapes, wrappers and white space make its line longer. Documents
 * that are too large in spite of a shorter line are refused by the database.
 */
export const maxLineBytes = 32 * 1024 * 1024

/** A line that cannot be imported: FailedToParse where it holds no document, otherwise what its document was refused for, with its details. */
export class BadLine extends PetalError {
  /** From 1. */
  readonly line: number

  constructor(line: number, problem: string, cause?: unknown, codeName: ErrorName = 'FailedToParse', details = {}) {
    super(codeName, oneLine(problem), { cause, details: { ...details, line } })
    this.line = line
  }

  static refused(line: number, error: PetalError): BadLine {
    return new BadLine(line, error.message, error, error.codeName, error.details)
  }
}

/** undefined for an empty line. */
export function readLine(line: Line): JsonRecord | Document | BadLine | undefined {
  if (line.kind === 'tooLong') {
    return new BadLine(line.number, `${mebibytes(line.length)} of JSON; at most ${mebibytes(maxLineBytes)} are read`)
  }
  const { bytes, number } = line
  if (isBlank(bytes)) return undefined
  if (!line.isUtf8 && !isUtf8(bytes)) return new BadLine(number, 'not valid UTF-8')
  try {
    return readItem(bytes)
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    return new BadLine(number, error.message, error)
  }
}

/**
 * What a line holds that is not blank.
 * @param bytes UTF-8
 * @throws PetalError for anything but one JSON object
 */
export function readItem(bytes: Uint8Array): JsonRecord | Document {
  return JsonRecord.ofLine(bytes) ?? readDocument(bytes)
}

/** Whether bytes[start, end) are white space. */
export function isBlank(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) return false
  }
  return true
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

/** Long enough for any message of ours, short enough for a terminal. */
const maxProblemCharacters = 400

function oneLine(text: string): string {
  const line = text.replace(/\s*[\r\n]+\s*/g, ' ')
  return line.length <= maxProblemCharacters ? line : `${line.slice(0, maxProblemCharacters)}…`
}
