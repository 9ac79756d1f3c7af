/** Block filters and block zones of the tables used last, within a budget of bytes. */
export class SectionCache {
  readonly #budget: () => number
  /** In the order of use. */
  readonly #sections = new Map<string, Uint8Array>()
  #bytes = 0

  /** @param budget bytes, which may become more and fewer: see trim() */
  constructor(budget: () => number) {
    this.#budget = budget
  }

  get memoryBytes(): number {
    return this.#bytes
  }

  /** A section, read when it is not here; undefined when there is none. */
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

  /** Gives up what is beyond the budget, the sections that were used least lately first. */
  trim(): void {
    const budget = this.#budget()
    for (const [oldest, { length }] of this.#sections) {
      if (this.#bytes <= budget) break
      this.#sections.delete(oldest)
      this.#bytes -= length
    }
  }

  /** The sections of a table are others now. */
  forget(table: number): void {
    for (const [key, { length }] of this.#sections) {
      if (!key.startsWith(`${table} `)) continue
      this.#sections.delete(key)
      this.#bytes -= length
    }
  }
}
