/** Option checks shared by several calls. Errors name the offending option. */
import { PetalError } from '../model/errors.ts'
import { shown } from '../model/invalid-option.ts'
import { assertKnown } from './known-options.ts'

interface CallOptions {
  readonly signal?: unknown
  readonly onProgress?: unknown
  readonly onSkipped?: unknown
}

/**
 * Checks what is common to the options of every public call: they are an object (or undefined), the call knows every
 * key, `signal` is an AbortSignal, and callbacks are functions.
 * @param known the keys of the options' interface
 * @throws PetalError BadValue naming the call or the option
 */
export function assertOptions(call: string, options: object, known: Readonly<Record<string, true>>): void {
  if (!isOptions(options)) {
    throw new PetalError('BadValue', `${call} takes options as an object, got ${shown(options)}`, {
      details: { option: 'options' }
    })
  }
  assertKnown(call, options, known)
  const { signal, onProgress, onSkipped }: CallOptions = options
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw badOption('signal', 'an AbortSignal', signal)
  if (onProgress !== undefined) assertFunction('onProgress', onProgress)
  if (onSkipped !== undefined) assertFunction('onSkipped', onSkipped)
}

/** @throws PetalError BadValue */
export function assertFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw badOption(what, 'a function', value)
}

/** Like undefined, null stands for the default. @throws PetalError BadValue */
export function assertBoolean(option: string, value: unknown): void {
  if (value === undefined || value === null || typeof value === 'boolean') return
  throw badOption(option, 'true or false', value)
}

/** @throws PetalError BadValue */
export function assertReturnDocument(value: unknown): void {
  if (value === undefined || value === null || value === 'before' || value === 'after') return
  throw badOption('returnDocument', "'before' or 'after'", value)
}

export function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns `value` if it is a whole number ≥ 0, or `fallback` if it is absent. @throws PetalError BadValue */
export function wholeNumber(name: string, value: unknown, fallback: number): number {
  if (value === undefined || value === null) return fallback
  assertWholeNumber(name, value)
  return value
}

/** @throws PetalError BadValue unless `value` is a whole number from `least` to `greatest`; null is not */
export function assertWholeNumber(
  name: string,
  value: unknown,
  least = 0,
  greatest = Number.MAX_SAFE_INTEGER
): asserts value is number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= greatest) return
  const range = greatest === Number.MAX_SAFE_INTEGER ? `≥ ${least}` : `from ${least} to ${greatest}`
  throw badOption(name, `a whole number ${range}`, value)
}

export function badOption(option: string, wanted: string, value: unknown): PetalError {
  return new PetalError('BadValue', `${option} must be ${wanted}, got ${shown(value)}`, { details: { option } })
}
