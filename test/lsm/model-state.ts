/**
 * What a store should contain: a sorted map with frozen snapshots, some of whose writes are not durable yet.
 *
 * Keys are hexadecimal text, which sorts like the bytes it represents.
 */

/** A put or a deletion. */
export interface ModelWrite {
  readonly key: string
  /** Undefined for a deletion. */
  readonly value: string | undefined
}

export interface ModelEntry {
  readonly key: string
  readonly value: string
  /** Grows with every operation of every write: newer entries have larger numbers. */
  readonly order: number
}

/** Immutable: every write makes a new one. */
export type Content = ReadonlyMap<string, ModelEntry>

export interface ModelRange {
  readonly gt?: string
  readonly gte?: string
  readonly lt?: string
  readonly lte?: string
}

export class Model {
  /** Content after each write that may still be lost; the first is durable. */
  #states: Content[] = [new Map()]
  /** Number of writes up to the first of those states. */
  #forgotten = 0
  #order = 0

  /** Content after all writes. */
  get content(): Content {
    return this.#states.at(-1)!
  }

  /** Number of the last write, from 1. */
  get lastWrite(): number {
    return this.#forgotten + this.#states.length - 1
  }

  /** Applies an atomic batch and returns its number. */
  write(operations: readonly ModelWrite[]): number {
    const next = new Map(this.content)
    for (const { key, value } of operations) {
      const order = ++this.#order
      if (value === undefined) next.delete(key)
      else next.set(key, { key, value, order })
    }
    this.#states.push(next)
    return this.lastWrite
  }

  /** Marks this write and all earlier ones as durable. */
  makeDurable(write = this.lastWrite): void {
    const gone = write - this.#forgotten
    if (gone <= 0) return
    this.#states = this.#states.slice(gone)
    this.#forgotten = write
  }

  /**
   * Adopts the content found after a crash, which may lack only a suffix of the writes that are not durable.
   * @returns whether that is so; if not, the model is unchanged
   */
  recover(found: readonly (readonly [key: string, value: string])[]): boolean {
    const at = this.#states.findLastIndex((state) => isSame(state, found))
    if (at < 0) return false
    this.#states = [this.#states[at]!]
    // Numbers are not reused: callers may still hold those of lost writes.
    this.#forgotten = this.#order
    return true
  }
}

function isSame(content: Content, found: readonly (readonly [string, string])[]): boolean {
  return content.size === found.length && found.every(([key, value]) => content.get(key)?.value === value)
}

/** Entries of a range in key order, with keys without the prefix. */
export function entriesIn(content: Content, prefix: string, range: ModelRange): ModelEntry[] {
  const entries: ModelEntry[] = []
  for (const entry of content.values()) {
    if (!entry.key.startsWith(prefix)) continue
    const key = entry.key.slice(prefix.length)
    if (isWithin(key, range)) entries.push({ ...entry, key })
  }
  return entries.sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** REQUIRES: at most one lower and one upper bound. */
export function isWithin(key: string, { gt, gte, lt, lte }: ModelRange): boolean {
  if (gt !== undefined && key <= gt) return false
  if (gte !== undefined && key < gte) return false
  if (lt !== undefined && key >= lt) return false
  return lte === undefined || key <= lte
}

/** An iterator over frozen content. */
export class ModelIterator {
  readonly #entries: readonly ModelEntry[]
  readonly #range: ModelRange
  readonly #isReverse: boolean
  #left: number
  #at = 0

  constructor(content: Content, prefix: string, range: ModelRange, isReverse: boolean, limit: number) {
    const entries = entriesIn(content, prefix, range)
    this.#entries = isReverse ? entries.reverse() : entries
    this.#range = range
    this.#isReverse = isReverse
    this.#left = limit < 0 ? Number.POSITIVE_INFINITY : limit
  }

  /** Up to `count` entries, fewer at the end or at the limit. */
  take(count: number): ModelEntry[] {
    const taken = this.#entries.slice(this.#at, this.#at + Math.min(count, this.#left))
    this.#at += taken.length
    this.#left -= taken.length
    return taken
  }

  /** The next entries, without moving. */
  peek(count: number): readonly ModelEntry[] {
    return this.#entries.slice(this.#at, this.#at + Math.min(count, this.#left))
  }

  /** A target out of range ends the iterator. */
  seek(target: string): void {
    const isAtOrBehind = ({ key }: ModelEntry) => (this.#isReverse ? key <= target : key >= target)
    const at = isWithin(target, this.#range) ? this.#entries.findIndex(isAtOrBehind) : -1
    this.#at = at < 0 ? this.#entries.length : at
  }
}
