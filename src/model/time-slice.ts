/**
 * Long computations in slices: the event loop gets a turn whenever a slice has used up its time.
 *
 * Invariant: one slice is taken up again in a turn of the loop, however many wait. What else runs in a turn, such as the
 * continuation of a write, is a slice too: two of them are what the loop waits for.
 */

/** Milliseconds a slice may take. */
export const sliceMilliseconds = 2
/** Of work that nobody waits for, while others wait for what comes in between. */
export const backgroundSliceMilliseconds = 1

const later: (callback: () => void) => void =
  typeof setImmediate === 'function' ? setImmediate : (callback) => setTimeout(callback, 0)

const waiting: (() => void)[] = []

function takeTurn(): void {
  const resolve = waiting.shift()
  if (waiting.length > 0) later(takeTurn)
  resolve?.()
}

/** Lets the event loop run whatever waits. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) later(takeTurn)
  })
}

/**
 * Call between steps of a long computation; waits a turn when the slice is used up.
 * @param sliceStart performance.now() when the slice began
 * @param milliseconds that it may take
 * @returns the start of the slice that goes on
 */
export function breathe(sliceStart: number, milliseconds = sliceMilliseconds): number | Promise<number> {
  if (performance.now() - sliceStart < milliseconds) return sliceStart
  return nextTurn().then(() => performance.now())
}
