/** Counts how often values occur, so that a query of a given selectivity can be chosen. */

export class Tally<T extends string | number> {
  readonly #counts = new Map<T, number>()

  add(value: T): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1)
  }

  /**
   * Returns the value whose count is nearest to the given one; of several, the first seen.
   * @param rank how many are nearer
   * @returns undefined if nothing was counted
   */
  nearest(count: number, rank = 0): T | undefined {
    return this.nearestOf(count, rank + 1).at(-1)
  }

  /** Returns the `limit` values whose counts are nearest, nearest first; ties in the order first seen. */
  nearestOf(count: number, limit: number): T[] {
    const distance = (entry: readonly [T, number]): number => Math.abs(entry[1] - count)
    const best: [T, number][] = []
    for (const entry of this.#counts) {
      const worst = best.at(-1)
      if (best.length === limit && worst !== undefined && distance(entry) >= distance(worst)) continue
      const position = best.findIndex((other) => distance(entry) < distance(other))
      best.splice(position < 0 ? best.length : position, 0, entry)
      if (best.length > limit) best.pop()
    }
    return best.map(([value]) => value)
  }

  get(value: T): number {
    return this.#counts.get(value) ?? 0
  }
}
