/**
 * The value and size pairs of one document, as a sample reads them: eight words per entry, in the form that a scan
 * leaves (byte-scan/assembly/trace.ts). A flattened document is converted to the same form.
 */
import type { FlatDocument } from '../pairs/flatten.ts'
import type { PairCounter } from './pair-counter.ts'

export const entryWords = 8
/** Words of an entry: the halves of the hash, the path's number, the tag. */
export const loAt = 0
export const hiAt = 1
export const pathAt = 2
export const tagAt = 3
/** The halves of a double; or a text's offset and length in bytes; or the index in `keys`. */
export const firstAt = 4
export const secondAt = 5
/** UTF-16 units of a text, 0 for a number. */
export const unitsAt = 6
export const formAt = 7

/** How an entry represents its key. */
export const KeyForm = {
  double: 0,
  ascii: 1,
  /** UTF-8 with JSON escapes. */
  json: 2,
  /** A JavaScript value. */
  value: 3
} as const

/** In the order of flatten(), duplicates included. Valid until the next document. */
export interface PairList {
  readonly count: number
  readonly words: Int32Array
  /** The bytes that contain the texts, and an upper limit on the texts' total length. */
  readonly bytes: Uint8Array
  readonly textBytes: number
  /** By number. Paths keep their numbers as long as the array is the same. */
  readonly paths: readonly string[]
  readonly keys: readonly (number | string)[]
  /** Counts them in place. */
  readonly counter: PairCounter | undefined
}

const noBytes = new Uint8Array(0)

/** The pairs of flattened documents, one after another. */
export class FlatPairs implements PairList {
  count = 0
  words = new Int32Array(0)
  readonly bytes = noBytes
  readonly textBytes = 0
  readonly counter = undefined
  readonly paths: string[] = []
  keys: readonly (number | string)[] = []
  readonly #numbers = new Map<string, number>()

  read({ count, nodes, tags, keys, lo, hi }: FlatDocument): void {
    this.count = count
    this.keys = keys
    if (this.words.length < count * entryWords) this.words = new Int32Array(2 * count * entryWords)
    const words = this.words
    for (let i = 0, at = 0; i < count; i++, at += entryWords) {
      const key = keys[i]!
      words[at + loAt] = lo[i]!
      words[at + hiAt] = hi[i]!
      words[at + pathAt] = this.#numberOf(nodes[i]!.path)
      words[at + tagAt] = tags[i]!
      words[at + firstAt] = i
      words[at + unitsAt] = typeof key === 'string' ? key.length : 0
      words[at + formAt] = KeyForm.value
    }
  }

  #numberOf(path: string): number {
    const known = this.#numbers.get(path)
    if (known !== undefined) return known
    const number = this.paths.push(path) - 1
    this.#numbers.set(path, number)
    return number
  }
}
