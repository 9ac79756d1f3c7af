/**
 * Values in a form that structured cloning keeps: it loses the classes of bson, which travel as Extended JSON. Dates,
 * regular expressions, binary data and bigints are cloned as they are.
 */
import { parseJson, stringifyCanonical } from '../../../model/extended-json.ts'
import { type Document, isPlainObject } from '../../../model/types.ts'

export interface Portable {
  /** Without the values below. */
  readonly value: unknown
  readonly replaced: readonly (readonly [path: readonly string[], text: string])[]
}

/** Returns undefined for a value with functions in it. @param value not changed meanwhile, without cycles */
export function portable(value: unknown): Portable | undefined {
  const replaced: [string[], string][] = []
  let hasFunctions = false
  const copy = (each: unknown, path: string[]): unknown => {
    if (typeof each === 'function') hasFunctions = true
    if (typeof each !== 'object' || each === null) return each
    if (Array.isArray(each)) return each.map((element, i) => copy(element, [...path, String(i)]))
    if (isPlainObject(each)) {
      return Object.fromEntries(Object.entries(each).map(([key, field]) => [key, copy(field, [...path, key])]))
    }
    if (!('_bsontype' in each)) return each
    replaced.push([path, stringifyCanonical({ value: each })])
    return null
  }
  const copied = copy([value], [])
  return hasFunctions ? undefined : { value: copied, replaced }
}

/** Returns a portable value, in place. */
export function unpack({ value, replaced }: Portable): unknown {
  for (const [path, text] of replaced) {
    let parent = value as Document
    for (const key of path.slice(0, -1)) parent = parent[key] as Document
    parent[path.at(-1)!] = (parseJson(text) as Document).value
  }
  return (value as readonly unknown[])[0]
}

/** Whether a value consists of at most so many values: arrays, objects, and what is in them. @param value without cycles */
export function isSmall(value: unknown, most: number): boolean {
  let left = most
  const fits = (each: unknown): boolean => {
    if (--left < 0) return false
    if (Array.isArray(each)) return each.every(fits)
    return !isPlainObject(each) || Object.values(each).every(fits)
  }
  return fits(value)
}
