/** The common form of errors for invalid options, in every layer. */
import { PetalError } from './errors.ts'

export function invalidOption(option: string, wanted: string, value: unknown): PetalError {
  return new PetalError('InvalidOptions', `${option} must be ${wanted}, got ${shown(value)}`, { details: { option } })
}

/** Describes any value, even one that String() rejects. */
export function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return `'${value}'`
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value
}
