/**
 * `_id`s that are integers of a domain [from, to): a document's ordinal is computed from its `_id`, without an id
 * table.
 *
 * The domain is divided into blocks of 4,096 integers, and a keyed permutation shuffles each. Blocks keep their order,
 * so that ascending ids are written block by block, in tables that do not overlap.
 *
 * Invariant: ordinalOf is a bijection between the domain and [0, size), which depends only on what the catalog stores
 * about the collection.
 */
import { PetalError } from '../../model/errors.ts'
import { encodeKey } from '../../model/key.ts'
import { KeyedPermutation } from '../../sharded-bloom/standalone/keyed-permutation.ts'

/** The form stored in the catalog. */
export interface ReversibleHeader {
  readonly codec: 'reversible'
  readonly from: number
  readonly to: number
  /** Key of the permutations. */
  readonly key: readonly [lo: number, hi: number]
}

/** Maximum size of a domain: positions in index segments have 32 bits. */
export const maxDomain = 2 ** 32
const blockIds = 4096
const keyBytes = encodeKey(0).length

export class ReversibleIds {
  readonly header: ReversibleHeader
  /** Ordinals are below this. */
  readonly size: number
  readonly #blocks: KeyedPermutation
  /** The last block may be shorter. */
  readonly #lastBlock: KeyedPermutation
  readonly #lastStart: number

  constructor(header: ReversibleHeader) {
    this.header = header
    const { from, to, key } = header
    this.size = to - from
    this.#lastStart = Math.floor((this.size - 1) / blockIds) * blockIds
    this.#blocks = new KeyedPermutation(blockIds, ...key)
    this.#lastBlock = new KeyedPermutation(this.size - this.#lastStart, ...key)
  }

  /** Returns undefined for anything but an integer in the domain. */
  ordinalOf(id: number): number | undefined {
    const { from, to } = this.header
    if (!Number.isInteger(id) || id < from || id >= to) return undefined
    const start = Math.floor((id - from) / blockIds) * blockIds
    return start + this.#permutationAt(start).forward(id - from - start)
  }

  /** Like ordinalOf(), for an encoded `_id`: equal numbers of different types have the same key. */
  ordinalOfKey(key: Uint8Array): number | undefined {
    const id = integerOf(key)
    return id === undefined ? undefined : this.ordinalOf(id)
  }

  /** Returns the `_id` as a number. @throws PetalError BadValue for an `_id` that is not in the domain */
  check(id: unknown, key: Uint8Array): number {
    const integer = integerOf(key)
    if (integer !== undefined && this.ordinalOf(integer) !== undefined) return integer
    const { from, to } = this.header
    throw new PetalError(
      'BadValue',
      `_id must be an integer in [${from}, ${to}) in a collection with ids: 'reversible', got ${shown(id)}`,
      { details: { path: '_id', id, from, to } }
    )
  }

  #permutationAt(start: number): KeyedPermutation {
    return start === this.#lastStart ? this.#lastBlock : this.#blocks
  }
}

const view = new DataView(new ArrayBuffer(8))

/** Returns the number of an encoded `_id`; undefined for anything but a number that a double represents exactly. */
function integerOf(key: Uint8Array): number | undefined {
  if (key.length !== keyBytes) return undefined
  const flip = key[1]! >= 0x80 ? 0 : 0xff
  for (let i = 0; i < 8; i++) view.setUint8(i, key[i + 1]! ^ flip)
  if (flip === 0) view.setUint8(0, key[1]! & 0x7f)
  const number = view.getFloat64(0) + 0
  // Other values may have keys of the same length, but never the key of a number.
  return encodeKey(number).every((byte, i) => byte === key[i]) ? number : undefined
}

function shown(id: unknown): string {
  if (typeof id === 'string') return JSON.stringify(id)
  return typeof id === 'object' ? 'an object' : String(id)
}
