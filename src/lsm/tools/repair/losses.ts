/** Data that a repair could not save. */
import { hasCode } from '../../errors.ts'
import { hasSystemCode } from '../../fs/system-error.ts'

export interface Loss {
  readonly path: string
  /** Position and number of the lost bytes in the file, if known. */
  readonly offset?: number | undefined
  readonly bytes?: number | undefined
  readonly what: string
}

export class Losses {
  readonly #losses: Loss[] = []

  get list(): readonly Loss[] {
    return this.#losses
  }

  add(path: string, what: string, offset?: number, bytes?: number): void {
    const last = this.#losses.at(-1)
    const isNext = last?.path === path && last.offset !== undefined && last.bytes !== undefined
    // Adjacent damaged blocks are merged into one loss.
    if (isNext && bytes !== undefined && last.offset + last.bytes === offset) {
      this.#losses[this.#losses.length - 1] = { ...last, bytes: last.bytes + bytes }
    } else {
      this.#losses.push({ path, offset, bytes, what })
    }
  }

  /** Adds damage that a reader has thrown; rethrows anything else. */
  addDamage(path: string, error: unknown, offset?: number, bytes?: number): void {
    if (!isDamage(error)) throw error
    const found = error as Error & { readonly offset?: number }
    this.add(path, found.message, offset ?? found.offset, bytes)
  }
}

/**
 * Invalid bytes, a device that cannot read them, or a directory in the place of a file; not a missing or inaccessible
 * file.
 */
export function isDamage(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown }
  return hasCode(error, 'LEVEL_CORRUPTION') || [error, cause].some((each) => hasSystemCode(each, 'EIO', 'EISDIR'))
}
