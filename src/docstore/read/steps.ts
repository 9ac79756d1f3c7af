/**
 * Work that waits only when it must: a generator that yields results, and promises wherever it has to wait.
 *
 * A query over cached blocks never waits; written with `async`, it would still pay for a promise at every step.
 */

/** Yields slices of results (T, never a promise) and promises to be awaited. */
export type Steps<T> = Generator<T | Promise<unknown>, void, unknown>

/** Part of a Steps generator: may have to wait, and returns T in the end. */
export type Waiting<T> = Generator<Promise<unknown>, T, unknown>

/**
 * How often work was begun or resumed. While it stays the same, nothing has run but steps, and what they call: no other
 * code of the caller.
 */
export let resumptions = 0

/** Inside a Steps generator: returns the value, after waiting for it if it is a promise. */
export function* wait<T>(value: T | Promise<T>): Generator<Promise<unknown>, T, unknown> {
  // The driver below resumes the generator with the promise's value.
  return value instanceof Promise ? ((yield value) as T) : value
}

/** Runs until the next result; undefined at the end. Returns a promise only if the work had to wait. */
export function advance<T>(steps: Steps<T>): T | undefined | Promise<T | undefined> {
  resumptions++
  const step = steps.next()
  if (step.done) return undefined
  return step.value instanceof Promise ? advanceAsync(steps, step.value) : step.value
}

/** Runs to the end, and returns the result. */
export async function finish<T>(work: Waiting<T>): Promise<T> {
  resumptions++
  let step = work.next()
  while (step.done !== true) step = await settle(work, step.value)
  return step.value
}

/** Ends work whose remaining results are not wanted, so that it frees its resources. Harmless if it has ended. */
export function end(steps: Steps<unknown>): void {
  try {
    steps.return()
  } catch (error) {
    // Called from within the generator, by a caller's function that closes its own cursor: it ends at its next step.
    if (!(error instanceof TypeError)) throw error
  }
}

async function advanceAsync<T>(steps: Steps<T>, first: Promise<unknown>): Promise<T | undefined> {
  let waiting = first
  for (;;) {
    const step = await settle(steps, waiting)
    if (step.done) return undefined
    if (!(step.value instanceof Promise)) return step.value
    waiting = step.value
  }
}

async function settle<T, R>(steps: Generator<T, R, unknown>, waiting: Promise<unknown>): Promise<IteratorResult<T, R>> {
  let value: unknown
  try {
    value = await waiting
  } catch (error) {
    resumptions++
    return steps.throw(error)
  }
  resumptions++
  return steps.next(value)
}

/** Inside a Steps generator: calls `visit` with every result of `source`, and passes its promises on. */
export function* forEachStep<T>(
  source: Steps<T>,
  visit: (result: T) => void
): Generator<Promise<unknown>, void, unknown> {
  try {
    for (let step = source.next(); !step.done; ) {
      if (step.value instanceof Promise) {
        step = source.next(yield step.value)
      } else {
        visit(step.value)
        step = source.next()
      }
    }
  } finally {
    source.return()
  }
}
