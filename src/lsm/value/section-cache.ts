/** An LRU cache of block filters and block zones, within a budget of bytes. */
export class SectionCache {
  readonly #budget: () => number
  /** Least recently used first. */
  readonly #sections = new Map<string, Uint8Array>()
  #bytes = 0

  /** @param budget returns the budget in bytes, which may change: see trim() */
  constructor(budget: () => number) {
    this.#budget = budget
  }

  get memoryBytes(): number {
    return this.#bytes
  }

  /** Returns a section, reading it on a miss; undefined if there is none. */
  section(table: number, name: string, read: () => Uint8Array | undefined): Uint8Array | undefined {
    const key = `${table} ${name}`
    const known = this.#sections.get(key)
    if (known !== undefined) {
      this.#sections.delete(key)
      this.#sections.set(key, known)
      return known
    }
    const bytes = read()
    if (bytes === undefined || bytes.length > this.#budget()) return bytes
    this.#sections.set(key, bytes)
    this.#bytes += bytes.length
    this.trim()
    return bytes
  }

  /** Evicts the least recently used sections until the budget is met. */
  trim(): void {
    const budget = this.#budget()
    for (const [oldest, { length }] of this.#sections) {
      if (this.#bytes <= budget) break
      this.#sections.delete(oldest)
      this.#bytes -= length
    }
  }

  /** Drops a table's sections, which have changed. */
  forget(table: number): void {
    for (const [key, { length }] of this.#sections) {
      if (!key.startsWith(`${table} `)) continue
      this.#sections.delete(key)
      this.#bytes -= length
    }
  }
}
