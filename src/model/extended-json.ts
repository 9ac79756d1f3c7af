/**
 * The text format of import and export: JSON with MongoDB's Extended JSON v2, relaxed and canonical.
 *
 * Invariants:
 * 1. parseJson(stringifyRelaxed(document)) and parseJson(stringifyCanonical(document)) equal the document, in the
 *    types that PetalDB returns (see src/docstore/documents/record.ts).
 * 2. parseJson rounds no integer that fits 64 bits: beyond 2^53 it becomes a bigint.
 * 3. Both texts are one line, and the same for the same document.
 *
 * Two departures from the specification preserve invariant 1: relaxed text wraps 64-bit integers, because a bare one
 * would be read back as a double; and a document that looks like a wrapper gets one more `$` (see wrappers.ts).
 */
import { PetalError } from './errors.ts'
import { findJsonError } from './json-error.ts'
import { mayHoldLongIntegers, wrapLongIntegers } from './long-integers.ts'
import type { Document } from './types.ts'
import { unwrap, wrap } from './wrappers.ts'

const escapedDollarOrUnderscore = /\\u0024|\\u005f/i

/** Length of the excerpt shown before and after an error in the text. */
const excerptLength = 20

/**
 * Parses one JSON or Extended JSON text.
 * @throws PetalError FailedToParse with `details: { position }` for what is not JSON, FailedToParse naming the wrapper
 *   for a malformed one, BadValue for the key `__proto__`
 * @example
 * parseJson('{"id":1234567890123456789,"at":{"$date":"2024-01-01T00:00:00Z"}}')
 * // { id: 1234567890123456789n, at: new Date('2024-01-01') }
 */
export function parseJson(text: string): unknown {
  return readJson(text).value
}

/** As parseJson(). @returns the value, and the result of isJsonText() */
export function readJson(text: string): { readonly value: unknown; readonly isJson: boolean } {
  const exact = withLongIntegers(text)
  let value: unknown
  try {
    value = JSON.parse(exact)
  } catch (cause) {
    throw notJson(text, cause)
  }
  const isJson = exact === text && !mayHoldWrappers(text)
  return { value: isJson ? value : unwrap(value), isJson }
}

/** Whether JSON.parse yields the same value as parseJson() for a JSON text. */
export function isJsonText(text: string): boolean {
  return withLongIntegers(text) === text && !mayHoldWrappers(text)
}

function withLongIntegers(text: string): string {
  return mayHoldLongIntegers(text) ? wrapLongIntegers(text) : text
}

/** One line that people and most programs can read easily: bare numbers, dates in ISO 8601. */
export function stringifyRelaxed(document: Document): string {
  return JSON.stringify(wrap(document, 'relaxed'))
}

/** One line in which every number states its kind. */
export function stringifyCanonical(document: Document): string {
  return JSON.stringify(wrap(document, 'canonical'))
}

/**
 * Whether there is a string that begins with `$`, or the key `__proto__`, escaped or not. Plain searches cost a tenth
 * of a regex.
 */
function mayHoldWrappers(text: string): boolean {
  if (text.includes('"$') || text.includes('__proto__')) return true
  return text.includes('\\u00') && escapedDollarOrUnderscore.test(text)
}

function notJson(text: string, cause: unknown): PetalError {
  const position = findJsonError(text)
  const start = Math.max(0, position - excerptLength)
  const excerpt = JSON.stringify(text.slice(start, position + excerptLength))
  const problem =
    position < text.length ? `Invalid JSON at position ${position}` : `Unexpected end of JSON at position ${position}`
  return new PetalError('FailedToParse', `${problem}: ${start > 0 ? '…' : ''}${excerpt}`, {
    cause,
    details: { position }
  })
}
