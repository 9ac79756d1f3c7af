/** What is wrong with a database, as found by verify() and repairDatabase(). */

/** A problem of a database. */
export interface VerifyProblem {
  /** undefined for a problem of the underlying store. */
  readonly collection: string | undefined
  /** `document`, `id`, `index`, or the store's own kind of problem. */
  readonly kind: string
  /** Description, with the ordinal or the file and offset where the problem was found. */
  readonly what: string
}

const maxProblems = 1000

export class Findings {
  /** At most `maxProblems`. */
  readonly problems: VerifyProblem[] = []
  count = 0

  add(collection: string | undefined, kind: string, what: string): void {
    if (this.count++ < maxProblems) this.problems.push({ collection, kind, what })
  }

  merge({ problems, count }: Findings): void {
    this.problems.push(...problems.slice(0, Math.max(0, maxProblems - this.problems.length)))
    this.count += count
  }
}
