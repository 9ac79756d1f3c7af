/**
 * The value and size pairs of one document, as a sample reads them: eight words an entry, as a scan leaves them
 * (byte-scan/assembly/trace.ts). A document that came as an object is written in the same form.
 */
import type { FlatDocument } from '../pairs/flatten.ts'
import type { PairCounter } from './pair-counter.ts'

export const entryWords = 8
/** Words of an entry: the halves of the hash, the number of the path, the tag. */
export const loAt = 0
export const hiAt = 1
export const pathAt = 2
export const tagAt = 3
/** The halves of a double; or the text's first byte and its bytes; or the place in `keys`. */
export const firstAt = 4
export const secondAt = 5
/** UTF-16 units of a text, 0 of a number. */
export const unitsAt = 6
export const formAt = 7

/** How an entry tells its key. */
export const KeyForm = {
  double: 0,
  ascii: 1,
  /** UTF-8 with the escapes of JSON. */
  json: 2,
  /** A value of JavaScript. */
  value: 3
} as const

/** In the order of flatten(), duplicates included. Valid until the next document. */
export interface PairList {
  readonly count: number
  readonly words: Int32Array
  /** Where texts stand, and how many bytes they are together, at most. */
  readonly bytes: Uint8Array
  readonly textBytes: number
  /** By number; while it is the same array, paths keep their numbers. */
  readonly paths: readonly string[]
  readonly keys: readonly (number | string)[]
  /** What counts them where they stand. */
  readonly counter: PairCounter | undefined
}

const noBytes = new Uint8Array(0)

/** The pairs of documents that were flattened, one after the other. */
export class FlatPairs implements PairList {
  count = 0
  words = new Int32Array(64 * entryWords)
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
