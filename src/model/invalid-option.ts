/** How an option that is wrong is told of, in every layer alike. */
import { PetalError } from './errors.ts'

export function invalidOption(option: string, wanted: string, value: unknown): PetalError {
  return new PetalError('InvalidOptions', `${option} must be ${wanted}, got ${shown(value)}`, { details: { option } })
}

/** Any value at all, also one that String() does not take. */
export function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return `'${value}'`
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value
}
