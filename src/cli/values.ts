/** Parses option values and arguments that are whole numbers or Extended JSON. */
import type { Collation } from '../index.ts'
import { PetalError } from '../model/errors.ts'
import { parseJson } from '../model/extended-json.ts'
import { type Document, isPlainObject, typeNames, typeOf } from '../model/types.ts'
import { UsageError } from './errors.ts'

/** @throws UsageError unless the text is a whole number from `least` to `most` */
export function wholeNumber(name: string, text: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  const from = least > 0 ? ` of at least ${least}` : ''
  const range = most < Number.MAX_SAFE_INTEGER ? ` from ${least} to ${most}` : from
  throw new UsageError(`${name} takes a whole number${range}, got '${text}'`)
}

/** @throws UsageError unless the text is relaxed Extended JSON of an object */
export function documentOf(name: string, text: string): Document {
  const value = jsonOf(name, text)
  if (isPlainObject(value)) return value
  throw new UsageError(`${name} must be a JSON object such as {"lang": "en"}, got ${typeNames[typeOf(value)]}`)
}

/** The library validates the options. @throws UsageError as documentOf() */
export function collationOf(text: string): Collation {
  return documentOf('--collation', text) as unknown as Collation
}

/** @throws UsageError unless the text is relaxed Extended JSON of an array of objects */
export function pipelineOf(text: string): readonly Document[] {
  const value = jsonOf('the pipeline', text)
  if (Array.isArray(value) && value.every(isPlainObject)) return value
  throw new UsageError('the pipeline must be a JSON array of stages such as [{"$count": "n"}]')
}

/** @throws UsageError pointing at the position where the JSON is invalid */
function jsonOf(name: string, text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    const { position } = error.details
    if (typeof position !== 'number') throw new UsageError(`${name}: ${error.message}`)
    const problem = position < text.length ? 'is not JSON' : 'is incomplete'
    throw new UsageError(`${name} ${problem} at position ${position}:\n${pointAt(text, position)}`)
  }
}

const contextCharacters = 60

/** Returns the text around a position, with a caret below it. */
function pointAt(text: string, position: number): string {
  const lineStart = text.lastIndexOf('\n', position - 1) + 1
  const lineEnd = text.indexOf('\n', position)
  const start = Math.max(lineStart, position - contextCharacters)
  const end = Math.min(lineEnd < 0 ? text.length : lineEnd, position + contextCharacters)
  // Tabs would misalign the caret.
  const shown = text.slice(start, end).replaceAll('\t', ' ')
  return `  ${shown}\n  ${' '.repeat(position - start)}^`
}
