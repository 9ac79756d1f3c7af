/**
 * Values of filters in a form that structured cloning keeps: it loses the classes of bson, which travel as Extended JSON.
 * Dates, regular expressions, binary data and bigints are cloned as they are.
 */
import { parseJson, stringifyCanonical } from '../../../model/extended-json.ts'
import { type Document, isPlainObject } from '../../../model/types.ts'

export interface Portable {
  /** Without the values below. */
  readonly value: Document
  readonly replaced: readonly (readonly [path: readonly string[], text: string])[]
}

/** REQUIRES: a copy as sanitizeFilter() makes it, without functions */
export function portable(document: Document): Portable {
  const replaced: [string[], string][] = []
  const copy = (value: unknown, path: string[]): unknown => {
    if (Array.isArray(value)) return value.map((element, i) => copy(element, [...path, String(i)]))
    if (isPlainObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each, [...path, key])]))
    }
    if (typeof value !== 'object' || value === null || !('_bsontype' in value)) return value
    replaced.push([path, stringifyCanonical({ value })])
    return null
  }
  return { value: copy(document, []) as Document, replaced }
}

export function unpack({ value, replaced }: Portable): Document {
  for (const [path, text] of replaced) {
    let parent = value
    for (const key of path.slice(0, -1)) parent = parent[key] as Document
    parent[path.at(-1)!] = (parseJson(text) as Document).value
  }
  return value
}
