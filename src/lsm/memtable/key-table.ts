/**
 * Finds a key of a memtable by its bytes: an open-addressing hash table of entry numbers.
 *
 * A string-keyed Map takes twice as long to fill with a million keys, because it creates a string for each.
 */
import type { EntryList } from './entry-list.ts'

/**
 * Random per process, so that nobody can prepare colliding keys. Two multipliers with a rotation in between: a
 * difference in the highest bit alone passes through one multiplication unchanged, whatever the factor.
 */
const seed = randomWord()
const firstFactor = randomWord() | 1
const secondFactor = randomWord() | 1

const firstSlots = 1024
/**
 * Buffers of released tables, kept by the thread for later ones. A table takes one when it first grows: a store with few
 * entries would hold a large one for as long as it is open, and a table that needs a large one rarely grows again.
 */
const idleSlots: Int32Array[] = []
const maxIdle = 2
const maxIdleSlots = 1 << 18
const noSlots = new Int32Array(1)

export class KeyTable {
  readonly #entries: EntryList
  /** Number of the key's first entry plus one; 0 is free. The length is a power of two, at most half of it is used. */
  #slots: Int32Array = new Int32Array(firstSlots)
  #size = 0

  constructor(entries: EntryList) {
    this.#entries = entries
  }

  get size(): number {
    return this.#size
  }

  get memoryBytes(): number {
    return this.#slots.byteLength
  }

  /** The key's number, or −1. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const key = slots[slot]! - 1
      if (key < 0) return -1
      if (this.#entries.hash(key) === hash && this.#entries.keyEquals(key, bytes, start, end)) return key
    }
  }

  /** Keeps the buffer for a later table, and removes all keys. */
  release(): void {
    const slots = this.#slots
    const isWorthKeeping = slots.length > firstSlots && slots.length <= maxIdleSlots
    if (isWorthKeeping && idleSlots.length < maxIdle) idleSlots.push(slots)
    this.#slots = noSlots
    this.#size = 0
  }

  /** REQUIRES: the key is not in the table. */
  add(key: number, hash: number): void {
    if (++this.#size * 2 > this.#slots.length) this.#grow()
    this.#place(key, hash)
  }

  #grow(): void {
    const smaller = this.#slots
    const kept = smaller.length === firstSlots ? idleSlots.pop() : undefined
    this.#slots = kept?.fill(0) ?? new Int32Array(smaller.length * 4)
    for (const slot of smaller) {
      if (slot !== 0) this.#place(slot - 1, this.#entries.hash(slot - 1))
    }
  }

  #place(key: number, hash: number): void {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = hash & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = key + 1
  }
}

/** A signed 32-bit hash of bytes[start, end), valid within this process only. */
export function hashOfKey(bytes: Uint8Array, start: number, end: number): number {
  let hash = seed ^ (end - start)
  let at = start
  for (; at + 4 <= end; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    hash = mixed(hash ^ word)
  }
  if (at < end) {
    let word = 0
    for (; at < end; at++) word = (word << 8) | bytes[at]!
    hash = mixed(hash ^ word)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}

function mixed(word: number): number {
  const product = Math.imul(word, firstFactor)
  return Math.imul((product << 15) | (product >>> 17), secondFactor)
}

function randomWord(): number {
  return Math.floor(Math.random() * 2 ** 32) | 0
}
