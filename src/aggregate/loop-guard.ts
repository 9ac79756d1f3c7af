/**
 * Lets the loops within an expression look at the limits of the operation it belongs to. Expressions are synchronous, so
 * nothing between documents sees that one of them takes a minute.
 *
 * A signal that is aborted by other code cannot be seen here: while a loop runs, no other code does. It is the time limit
 * that ends such a loop.
 */

/** Steps between two looks: a look at the clock costs less than evaluating two elements. */
const stepsPerCheck = 256
/** Elements that are copied in the time of a step. */
const copiesPerStep = 8

/** The limits of an operation. */
export interface Limits {
  /** @throws AbortedError, PetalError MaxTimeMSExpired */
  check(): void
}

export class LoopGuard {
  #limits: Limits | undefined
  #left = stepsPerCheck

  /** Looks at these limits from now on. Called when an operation begins: it was compiled before it had limits. */
  obey(limits: Limits): void {
    this.#limits = limits
  }

  /** Call for each element that an expression is evaluated for, that is compared, or the like. @throws as Limits */
  count(steps = 1): void {
    this.#left -= steps
    if (this.#left <= 0) this.check()
  }

  /** Call with the number of elements that were only copied. @throws as Limits */
  countCopies(elements: number): void {
    this.count(elements / copiesPerStep)
  }

  /** Call for a step of any length. @throws as Limits */
  check(): void {
    this.#left = stepsPerCheck
    this.#limits?.check()
  }
}
