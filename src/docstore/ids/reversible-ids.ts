/**
 * `_id`s that are integers of a domain [from, to): where a document stands is computed from its `_id`, and no table of ids
 * is kept.
 *
 * The domain is cut into blocks of 4,096 integers, and a keyed permutation shuffles each. Blocks keep their order, so that
 * ids that come in ascending order are written block by block, in tables that do not overlap.
 *
 * Invariant: ordinalOf is a bijection of the domain and [0, size); idAt is its inverse. Both depend on what the catalog keeps
 * of the collection and on nothing else.
 */
import { PetalError } from '../../model/errors.ts'
import { encodeKey } from '../../model/key.ts'
import { KeyedPermutation } from '../../sharded-bloom/standalone/keyed-permutation.ts'

/** As the catalog keeps it. */
export interface ReversibleHeader {
  readonly codec: 'reversible'
  readonly from: number
  readonly to: number
  /** Key of the permutations. */
  readonly key: readonly [lo: number, hi: number]
}

/** Of `_id`s that a domain may have: positions of index segments have 32 bits. */
export const maxDomain = 2 ** 32
const blockIds = 4096
const keyBytes = encodeKey(0).length

export class ReversibleIds {
  readonly header: ReversibleHeader
  /** Ordinals are below it. */
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

  /** undefined for an integer that is not in the domain, and for whatever is no integer. */
  ordinalOf(id: number): number | undefined {
    const { from, to } = this.header
    if (!Number.isInteger(id) || id < from || id >= to) return undefined
    const start = Math.floor((id - from) / blockIds) * blockIds
    return start + this.#permutationAt(start).forward(id - from - start)
  }

  /** REQUIRES: an ordinal of the domain. */
  idAt(ordinal: number): number {
    const start = Math.floor(ordinal / blockIds) * blockIds
    return this.header.from + start + this.#permutationAt(start).inverse(ordinal - start)
  }

  /** As ordinalOf(), of an encoded `_id`: equal numbers have one key, whatever their type. */
  ordinalOfKey(key: Uint8Array): number | undefined {
    const id = integerOf(key)
    return id === undefined ? undefined : this.ordinalOf(id)
  }

  /** @throws PetalError BadValue for an `_id` that is not in the domain; returns it as a number */
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

/** The number of an encoded `_id`; undefined for what is no number, or none that a double holds exactly. */
function integerOf(key: Uint8Array): number | undefined {
  if (key.length !== keyBytes) return undefined
  const flip = key[1]! >= 0x80 ? 0 : 0xff
  for (let i = 0; i < 8; i++) view.setUint8(i, key[i + 1]! ^ flip)
  if (flip === 0) view.setUint8(0, key[1]! & 0x7f)
  const number = view.getFloat64(0) + 0
  // Other values may have keys of that length: only a number's own key is the same.
  return encodeKey(number).every((byte, i) => byte === key[i]) ? number : undefined
}

function shown(id: unknown): string {
  if (typeof id === 'string') return JSON.stringify(id)
  return typeof id === 'object' ? 'an object' : String(id)
}
