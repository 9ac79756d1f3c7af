/** Limits how much an operation may hold in memory, as in MongoDB. */
import { maxDepth, tooDeep } from './depth.ts'
import { PetalError } from './errors.ts'
import type { Document } from './types.ts'

/** The budget of a sort, or of a stage of a pipeline. */
export const defaultBudgetBytes = 100 * 2 ** 20

export class MemoryBudget {
  readonly #subject: string
  readonly #remedy: string
  readonly #maxBytes: number
  #usedBytes = 0

  /**
   * @param subject names the operation in the error: `The sort`
   * @param remedy the error's advice
   */
  constructor(subject: string, remedy: string, maxBytes = defaultBudgetBytes) {
    this.#subject = subject
    this.#remedy = remedy
    this.#maxBytes = maxBytes
  }

  /** @param bytes negative to release memory. @throws PetalError QueryExceededMemoryLimit */
  change(bytes: number): void {
    this.#usedBytes += bytes
    if (this.#usedBytes <= this.#maxBytes) return
    throw new PetalError(
      'QueryExceededMemoryLimit',
      `${this.#subject} needs more than its ${this.#maxBytes} bytes of memory; ${this.#remedy}`,
      { details: { maxBytes: this.#maxBytes, usedBytes: this.#usedBytes } }
    )
  }
}

/**
 * Approximate size in memory, from strings and the number of values.
 * @throws PetalError BadValue for one that is nested too deeply: see maxDepth
 */
export function estimateBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null) return 8
  if (value instanceof Uint8Array) return 64 + value.length
  if (depth > maxDepth) throw tooDeep('A value')
  let bytes = 32
  if (Array.isArray(value)) for (const element of value) bytes += estimateBytes(element, depth + 1)
  else for (const key of Object.keys(value)) bytes += 8 + estimateBytes((value as Document)[key], depth + 1)
  return bytes
}
