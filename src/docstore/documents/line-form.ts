/**
 * Whether the text of a line may be stored as it stands: as a scan of its bytes would tell, for lines whose paths a scanner does not know.
 */
import { isJsonText } from '../../model/extended-json.ts'
import type { RecordForm } from '../../sharded-bloom/byte-scan/json-form.ts'

/** The wrappers that are read from bytes: see sharded-bloom/byte-scan/assembly/wrappers.ts. */
const readWrapper =
  /\{"\$(?:oid":"[0-9a-f]{24}"|date":(?:\{"\$numberLong":"-?\d{1,16}"\}|"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{3})?Z"))\}/g
/** A string, and whether it is a key. */
const stringOrKey = /"((?:[^"\\]|\\.)*)"[ \t\n\r]*(:?)/g

/**
 * 'json' for a text that JSON.parse reads as it is meant, 'wrapped' for one with wrappers of dates and ObjectIds; undefined where it has to
 * be written anew.
 * @param text Extended JSON, of one object
 * @param isJson as isJsonText() says, where it is known
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
  // Days that no calendar has are read by some engines and not by others.
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
