/** Parses one line of an import into something to insert, or a description of what is wrong with it. */
import { isUtf8 } from 'node:buffer'
import { type ErrorName, PetalError } from '../../model/errors.ts'
import { oneLine } from '../../model/one-line.ts'
import type { Document } from '../../model/types.ts'
import { JsonRecord, readDocument } from '../documents/json-record.ts'
import type { Line } from './line-splitter.ts'

/**
 * Maximum length of a line. A stored document is limited to 16 MiB; escapes, type wrappers and white space make its
 * line longer. Documents that are too large despite a shorter line are rejected by the database.
 */
export const maxLineBytes = 32 * 1024 * 1024

/** A line of an import that could not be imported. Its message is the problem, after the number of the line. */
export class BadLine extends PetalError {
  /** Line number, from 1. */
  readonly line: number
  /** What is wrong with the line. */
  readonly problem: string

  constructor(line: number, problem: string, cause?: unknown, codeName: ErrorName = 'FailedToParse', details = {}) {
    const text = oneLine(problem)
    super(codeName, `line ${line}: ${text}`, { cause, details: { ...details, line } })
    this.line = line
    this.problem = text
  }
}

/** A line whose document the database rejected. */
export function refusedLine(line: number, error: PetalError): BadLine {
  return new BadLine(line, error.message, error, error.codeName, error.details)
}

/** Returns undefined for a blank line. */
export function readLine(line: Line): JsonRecord | Document | BadLine | undefined {
  if (line.kind === 'tooLong') {
    return new BadLine(line.number, `${mebibytes(line.length)} of JSON; the maximum is ${mebibytes(maxLineBytes)}`)
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
 * Parses a line that is not blank.
 * @param bytes UTF-8
 * @throws PetalError for anything but a single JSON object
 */
export function readItem(bytes: Uint8Array): JsonRecord | Document {
  return JsonRecord.ofLine(bytes) ?? readDocument(bytes)
}

/** Whether bytes[start, end) are all white space. */
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
