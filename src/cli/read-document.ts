/** One line of an import as a document, or what is wrong with it. */
import { isUtf8 } from 'node:buffer'
import { PetalError } from '../model/errors.ts'
import { parseJson } from '../model/extended-json.ts'
import { type Document, isPlainObject, typeNames, typeOf } from '../model/types.ts'
import { oneLine } from './errors.ts'
import { formatBytes } from './format.ts'
import type { Line } from './line-splitter.ts'

/**
 * A document has at most 16 MiB as it is stored; escapes, wrappers and white space make its line longer. Documents
 * that are too large in spite of a shorter line are refused by the database.
 */
export const maxLineBytes = 32 * 1024 * 1024

/** A line that cannot be imported. */
export class BadLine extends PetalError {
  readonly line: number

  constructor(line: number, problem: string, cause?: unknown) {
    super('FailedToParse', oneLine(problem), { cause, details: { line } })
    this.line = line
  }
}

/** A line that can. */
export interface DocumentLine {
  readonly document: Document
  /** Of the line, from 1. */
  readonly number: number
  readonly byteLength: number
}

/** undefined for an empty line. */
export function readDocument(line: Line): DocumentLine | BadLine | undefined {
  if (line.kind === 'tooLong') {
    const limit = formatBytes(maxLineBytes)
    return new BadLine(line.number, `the line has ${formatBytes(line.length)}; at most ${limit} are read`)
  }
  const { bytes, number } = line
  if (isBlank(bytes)) return undefined
  if (!isUtf8(bytes)) return new BadLine(number, 'not valid UTF-8')
  try {
    const value = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
    if (isPlainObject(value)) return { document: value, number, byteLength: bytes.length }
    return new BadLine(number, `a document must be an object, not ${typeNames[typeOf(value)]}`)
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    return new BadLine(number, error.message, error)
  }
}

function isBlank(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) return false
  return true
}
