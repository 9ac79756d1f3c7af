/** What options of several calls are checked by: what is wrong is told by the option's name. */
import { PetalError } from '../model/errors.ts'
import { shown } from '../model/invalid-option.ts'
import { assertKnown } from './known-options.ts'

interface CallOptions {
  readonly signal?: unknown
  readonly onProgress?: unknown
  readonly onSkipped?: unknown
}

/**
 * What every public call asks of its options before it does anything: they are an object, or undefined for none; the call knows
 * each of them; who ends it is an AbortSignal, and who is told of its progress can be called.
 * @param known the keys of the options' interface
 * @throws PetalError BadValue, which names the call or the option
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

/** null is the default, as for numbers. @throws PetalError BadValue */
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

/** A whole number ≥ 0, or the default when absent. @throws PetalError BadValue */
export function wholeNumber(name: string, value: unknown, fallback: number): number {
  if (value === undefined || value === null) return fallback
  assertWholeNumber(name, value)
  return value
}

/** @throws PetalError BadValue for what is not from `least` to `greatest`, null among it */
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
