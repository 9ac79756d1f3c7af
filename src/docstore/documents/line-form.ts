/**
 * Decides whether the text of a line may be stored as is, with the same result as a byte scan, for lines whose paths a
 * scanner does not know.
 */
import { isJsonText } from '../../model/extended-json.ts'
import type { RecordForm } from '../../sharded-bloom/byte-scan/json-form.ts'

/** The wrappers that can be read from bytes: see sharded-bloom/byte-scan/assembly/wrappers.ts. */
const readWrapper =
  /\{"\$(?:oid":"[0-9a-f]{24}"|date":(?:\{"\$numberLong":"-?\d{1,16}"\}|"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{3})?Z"))\}/g
/** A string, and whether it is a key. */
const stringOrKey = /"((?:[^"\\]|\\.)*)"[ \t\n\r]*(:?)/g

/**
 * Returns 'json' for a text whose values JSON.parse() reads as intended, 'wrapped' for one with wrappers of dates and
 * ObjectIds; undefined if it has to be re-encoded.
 * @param text Extended JSON of a single object
 * @param isJson result of isJsonText(), if known
 * @example
 * formOfLine('{"_id":1, "a" : 2}') // 'json'
 * formOfLine('{"at":{"$date":"2024-01-02T03:04:05Z"}}') // 'wrapped'
 * formOfLine('{"\\u0061":1}') // undefined: questions of stored text would not find the key
 */
export function formOfLine(
  text: string,
  isJson = isJsonText(text)
): Extract<RecordForm, 'json' | 'wrapped'> | undefined {
  if (hasEscapedKey(text)) return undefined
  if (isJson) return 'json'
  return isJsonText(text.replace(readWrapper, withoutWrapper)) ? 'wrapped' : undefined
}

function withoutWrapper(wrapper: string, isoTime: string | undefined): string {
  if (isoTime === undefined) return 'null'
  const time = new Date(`${isoTime}Z`)
  // Engines disagree about dates that do not exist in the calendar.
  const isOfCalendar = !Number.isNaN(time.getTime()) && time.toISOString() === `${isoTime}.000Z`
  return isOfCalendar ? 'null' : wrapper
}

function hasEscapedKey(text: string): boolean {
  if (!text.includes('\\')) return false
  for (const [, content, colon] of text.matchAll(stringOrKey)) {
    if (colon === ':' && content?.includes('\\')) return true
  }
  return false
}
