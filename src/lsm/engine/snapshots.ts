/**
 * The sequence numbers that somebody still reads at through a snapshot. Compactions keep what these can see.
 *
 * Invariant: numbers are taken in ascending order, because a snapshot is always taken of the newest state; the order
 * of insertion is therefore the numeric order.
 */
export class Snapshots {
  readonly #holders = new Map<number, number>()

  /** REQUIRES: sequence is not below any number taken before. */
  acquire(sequence: number): void {
    this.#holders.set(sequence, (this.#holders.get(sequence) ?? 0) + 1)
  }

  release(sequence: number): void {
    const holders = this.#holders.get(sequence) ?? 0
    if (holders > 1) this.#holders.set(sequence, holders - 1)
    else this.#holders.delete(sequence)
  }

  get isEmpty(): boolean {
    return this.#holders.size === 0
  }

  /** Live sequence numbers, ascending, each once. */
  live(): number[] {
    return [...this.#holders.keys()]
  }
}
