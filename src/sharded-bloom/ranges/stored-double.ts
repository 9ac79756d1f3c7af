/** Doubles in JSON. Those that JSON cannot represent are stored as a list of one name. */

export type StoredDouble = number | readonly [name: string]

const specialNumbers = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY]
])

export function encodeDouble(value: number): StoredDouble {
  return Number.isFinite(value) ? value : [String(value)]
}

/** Returns undefined for a value that is not a stored double. */
export function decodeDouble(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return Array.isArray(value) && value.length === 1 ? specialNumbers.get(String(value[0])) : undefined
}
