/**
 * Keeps the ids: each has a slot, and the slots at a position form a chain.
 *
 * By order, slot s has position s mod M: up to M ids share no position, and more share them evenly; slots of removed
 * ids are reused. By hash, an id is in the chain of the first of its K positions.
 *
 * As bytes: JSON. `slots` holds the ids in slot order, null for a free slot, without trailing nulls; `adds` holds, for
 * each id added more than once, its slot and its number of adds. Lone surrogates are escaped, so every string survives.
 */
import type { BitSet } from '../../../bloom/bit-set.ts'
import { PetalError } from '../../../model/errors.ts'
import type { Id } from '../options.ts'
import { checkId, type HashedPositions } from './hashed-positions.ts'
import type { IdCodec, Occupancy } from './id-codec.ts'

const NONE = -1

interface Place {
  readonly slot: number
  /** Adds not yet removed. */
  adds: number
}

export class TableIds implements IdCodec {
  readonly #bits: number
  /** undefined: positions by order. */
  readonly #hashed: HashedPositions | undefined
  readonly #places = new Map<Id, Place>()
  readonly #slots: (Id | undefined)[] = []
  readonly #free: number[] = []
  /** First slot of each position's chain. */
  readonly #heads: Int32Array
  readonly #next: number[] = []
  readonly #scratch = new Uint32Array(16)

  constructor(bits: number, hashed: HashedPositions | undefined) {
    this.#bits = bits
    this.#hashed = hashed
    this.#heads = new Int32Array(bits).fill(NONE)
  }

  add(id: Id, positions: Uint32Array): void {
    checkId(id)
    const known = this.#places.get(id)
    if (known !== undefined) known.adds++
    else this.#insert(id, this.#free.pop() ?? this.#slots.length, 1)
    this.positionsOf(id, positions)
  }

  remove(id: Id): void {
    const place = this.#places.get(id)
    if (place === undefined) throw new PetalError('BadValue', `${JSON.stringify(id)} is not in the table of ids`)
    if (--place.adds > 0) return
    const head = this.#firstPosition(id, place.slot)
    const after = this.#next[place.slot]!
    if (this.#heads[head] === place.slot) this.#heads[head] = after
    else {
      let slot = this.#heads[head]!
      while (this.#next[slot] !== place.slot) slot = this.#next[slot]!
      this.#next[slot] = after
    }
    this.#places.delete(id)
    this.#slots[place.slot] = undefined
    this.#free.push(place.slot)
  }

  positionsOf(id: Id, positions: Uint32Array): boolean {
    checkId(id)
    const place = this.#places.get(id)
    if (place === undefined) return false
    if (this.#hashed === undefined) positions[0] = place.slot % this.#bits
    else this.#hashed.write(id, positions)
    return true
  }

  recover(upper: BitSet): Id[] {
    const ids: Id[] = []
    const hashed = this.#hashed
    const positions = this.#scratch
    const count = hashed?.bitsPerId ?? 1
    upper.forEach((position) => {
      for (let slot = this.#heads[position]!; slot !== NONE; slot = this.#next[slot]!) {
        const id = this.#slots[slot]!
        if (count > 1) hashed?.write(id, positions)
        let isCandidate = true
        for (let k = 1; k < count && isCandidate; k++) isCandidate = upper.get(positions[k]!)
        if (isCandidate) ids.push(id)
      }
    })
    return ids
  }

  occupancy(ids: number): Occupancy {
    if (this.#hashed !== undefined) return this.#hashed.occupancy(ids)
    const few = Math.floor(ids / this.#bits)
    const atFuller = ids === 0 ? 0 : ((ids % this.#bits) * (few + 1)) / ids
    const othersOfMember = (z: number): number => (few > 0 ? (1 - atFuller) * z ** (few - 1) : 0) + atFuller * z ** few
    return { othersOfMember, strangers: 0, othersOfStranger: () => 1 }
  }

  toBytes(): Uint8Array {
    const slots = this.#slots.map((id) => id ?? null)
    while (slots.length > 0 && slots.at(-1) === null) slots.pop()
    const adds = [...this.#places.values()]
      .filter((place) => place.adds > 1)
      .map((place) => [place.slot, place.adds])
      .sort(([a], [b]) => a! - b!)
    return new TextEncoder().encode(JSON.stringify({ slots, adds }))
  }

  load(bytes: Uint8Array): void {
    const { slots, adds } = parse(bytes)
    const addsOf = new Map(adds)
    for (const [slot, id] of slots.entries()) {
      if (id === null) {
        this.#reserve(slot)
        this.#free.push(slot)
      } else if (this.#places.has(id)) throw corrupt(`id ${JSON.stringify(id)} occurs twice`)
      else this.#insert(id, slot, addsOf.get(slot) ?? 1)
    }
  }

  #insert(id: Id, slot: number, adds: number): void {
    this.#reserve(slot)
    this.#places.set(id, { slot, adds })
    this.#slots[slot] = id
    const head = this.#firstPosition(id, slot)
    this.#next[slot] = this.#heads[head]!
    this.#heads[head] = slot
  }

  /** Keeps the arrays dense. REQUIRES: `slot` is at most one past the last. */
  #reserve(slot: number): void {
    if (slot < this.#slots.length) return
    this.#slots.push(undefined)
    this.#next.push(NONE)
  }

  #firstPosition(id: Id, slot: number): number {
    if (this.#hashed === undefined) return slot % this.#bits
    this.#hashed.write(id, this.#scratch)
    return this.#scratch[0]!
  }
}

interface Stored {
  readonly slots: readonly (Id | null)[]
  readonly adds: readonly (readonly [slot: number, adds: number])[]
}

function parse(bytes: Uint8Array): Stored {
  let stored: unknown
  try {
    stored = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw corrupt('not JSON', cause)
  }
  if (!isStored(stored)) throw corrupt('expected ids and how often each was added')
  return stored
}

function isStored(stored: unknown): stored is Stored {
  const { slots, adds } = (stored ?? {}) as { readonly slots?: unknown; readonly adds?: unknown }
  return (
    Array.isArray(slots) &&
    slots.every((id) => id === null || typeof id === 'string' || Number.isFinite(id)) &&
    Array.isArray(adds) &&
    adds.every(
      (pair) =>
        Array.isArray(pair) &&
        pair.length === 2 &&
        Number.isSafeInteger(pair[0]) &&
        typeof slots[pair[0]] !== 'undefined' &&
        slots[pair[0]] !== null &&
        Number.isSafeInteger(pair[1]) &&
        pair[1] > 1
    )
  )
}

function corrupt(problem: string, cause?: unknown): PetalError {
  return new PetalError('DataCorruption', `Damaged table of ids: ${problem}`, cause === undefined ? {} : { cause })
}
