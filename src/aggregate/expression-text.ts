/** Operators over text whose edges the engine has otherwise: what is null or too short, and positions in code points. */
import { describeType } from '../query/errors.ts'
import { textOf } from './conversions.ts'
import { isNil } from './expression-values.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Text in one case; of null and missing it is empty. */
export function inCase(value: unknown, change: (text: string) => string): string {
  return change(textOf(value) ?? '')
}

/** A part of the text's UTF-8: as much as there is, and all that is left with a negative length. */
export function substringOfBytes([text, from, length]: readonly unknown[]): string {
  const bytes = encoder.encode(textOf(text) ?? '')
  if (!isWhole(from) || from < 0 || !isWhole(length)) {
    throw new TypeError('$substrBytes takes a text, a position from 0 and a length')
  }
  const part = bytes.subarray(from, length < 0 ? bytes.length : from + length)
  try {
    return decoder.decode(part)
  } catch {
    throw new TypeError('$substrBytes begins or ends within a character')
  }
}

/** In code points; -1 where it is not. */
export function indexOfCodePoints([text, wanted, from = 0, to]: readonly unknown[]): number | null {
  if (isNil(text)) return null
  if (typeof text !== 'string' || typeof wanted !== 'string') {
    const other = typeof text === 'string' ? wanted : text
    throw new TypeError(`$indexOfCP takes two texts, got ${describeType(other)}`)
  }
  const points = [...text]
  const end = to ?? points.length
  if (!isWhole(from) || !isWhole(end) || from < 0 || end < 0) throw new TypeError('$indexOfCP takes positions from 0')
  const part = points.slice(from, end).join('')
  const at = from > points.length || from > end ? -1 : part.indexOf(wanted)
  return at < 0 ? -1 : from + [...part.slice(0, at)].length
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value)
}
