/** What a repair could not save. */
import { hasCode } from '../../errors.ts'
import { hasSystemCode } from '../../fs/system-error.ts'

export interface Loss {
  readonly path: string
  /** Where in the file the bytes are that are lost, and how many: where that is known. */
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
    // A table of nothing but damaged blocks is one loss.
    if (isNext && bytes !== undefined && last.offset + last.bytes === offset) {
      this.#losses[this.#losses.length - 1] = { ...last, bytes: last.bytes + bytes }
    } else {
      this.#losses.push({ path, offset, bytes, what })
    }
  }

  /** Adds damage that a reader has thrown; anything else is thrown again. */
  addDamage(path: string, error: unknown, offset?: number, bytes?: number): void {
    if (!isDamage(error)) throw error
    const found = error as Error & { readonly offset?: number }
    this.add(path, found.message, offset ?? found.offset, bytes)
  }
}

/** Wrong bytes, or a device that cannot read them; not a file that is missing, or may not be read. */
export function isDamage(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown }
  return hasCode(error, 'LEVEL_CORRUPTION') || hasSystemCode(error, 'EIO') || hasSystemCode(cause, 'EIO')
}
