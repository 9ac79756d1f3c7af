/**
 * Splits long computations into slices: yields to the event loop whenever a slice, or everything that ran in the
 * current turn, has used up its time.
 *
 * Most reads and writes complete without leaving the thread, so a loop of awaited operations would run in microtasks
 * for ever: no timer, socket or worker message would get through. All work checks the time here, and yields when due.
 *
 * Invariants:
 * 1. One slice resumes per event-loop turn, however many are waiting; completed calls are all answered at once.
 * 2. Nothing is scheduled while idle; one immediate per turn in which the time is checked, gone by the next.
 * 3. Work that continues while a read waits gets slices as long as the read's, so that both advance at the same rate.
 */

/** Milliseconds for a read's slice, and for everything that runs in one event-loop turn. */
export const sliceMilliseconds = 2

/**
 * The same for work that takes one turn after another: imports, writes, the index's own work. When other threads
 * compete for its core, Linux deschedules a thread for four milliseconds: with slices of two, one timer in a hundred
 * was then delayed by six or seven (measured). The store's iterators would be a third slower with it.
 */
export const workMilliseconds = 1

const later: (callback: () => void) => void =
  typeof setImmediate === 'function' ? setImmediate : (callback) => setTimeout(callback, 0)

/** The global is a getter in Node. */
const clock: { now(): number } = performance

let turnStart = 0
let isMarked = false

function endTurn(): void {
  isMarked = false
}

/**
 * True if the current event-loop turn has lasted longer than allowed.
 * @param milliseconds allowed for a turn
 * @param now performance.now(), which is itself costly
 */
export function isTurnLong(milliseconds = sliceMilliseconds, now = clock.now()): boolean {
  if (isMarked) return now - turnStart > milliseconds
  isMarked = true
  turnStart = now
  later(endTurn)
  return false
}

interface Waiting {
  /** Length of its next slice. */
  readonly milliseconds: number
  resolve(): void
}

const waiting: Waiting[] = []

/** Slice length for work in the current turn. */
let sliceOfWork = workMilliseconds

function takeTurn(): void {
  const next = waiting.shift()
  // Before the next one is scheduled: that one gets a turn of its own only if this one has ended by then.
  isTurnLong()
  sliceOfWork = workMilliseconds
  for (const { milliseconds } of waiting) sliceOfWork = Math.max(sliceOfWork, milliseconds)
  if (waiting.length > 0) later(takeTurn)
  next?.resolve()
}

/**
 * Yields to the event loop.
 * @param milliseconds length of the slice that follows
 */
export function nextTurn(milliseconds = workMilliseconds): Promise<void> {
  isTurnLong()
  return new Promise((resolve) => {
    waiting.push({ milliseconds, resolve })
    if (waiting.length === 1) later(takeTurn)
  })
}

/**
 * The current slice of a long computation, which begins now.
 *
 * @example
 * const timeSlice = new TimeSlice()
 * for (const document of documents) {
 *   work(document)
 *   if (timeSlice.isOver()) await timeSlice.renew()
 * }
 */
export class TimeSlice {
  #start = clock.now()

  /** Call between steps: whether the slice, or the turn, is used up. */
  isOver(): boolean {
    const now = clock.now()
    return isTurnLong(sliceOfWork, now) || now - this.#start >= sliceOfWork
  }

  /** Yields to the event loop, and begins the next slice. */
  async renew(): Promise<void> {
    await nextTurn()
    this.#start = clock.now()
  }
}

/** Call before a step of a millisecond or more; yields if others have used up the turn. */
export function yieldIfTurnLong(): void | Promise<void> {
  return isTurnLong(sliceOfWork) ? nextTurn() : undefined
}

/** Resolves in the next turn, for all calls that complete in this one. */
let turnOfCalls: Promise<void> | undefined

/**
 * Call with the result of a library call: if the current turn has been long, the result is delivered in the next one.
 * A loop of calls that need no work would otherwise never let the event loop turn.
 * REQUIRES: not a promise, whose rejection before the next turn would be unhandled
 */
export function deliver<T>(answer: T): T | Promise<T> {
  if (!isTurnLong()) return answer
  turnOfCalls ??= new Promise((resolve) => {
    later(() => {
      turnOfCalls = undefined
      resolve()
    })
  })
  return turnOfCalls.then(() => answer)
}

/**
 * Answers a library call with what `call` returns or throws, as deliver() does: a loop that goes on after errors would
 * keep the event loop from turning as well.
 */
export async function answered<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    const answer = call()
    return deliver(answer instanceof Promise ? await answer : answer)
  } catch (error) {
    throw await deliver(error)
  }
}

/** Runs a stepwise computation in one go. */
export function runSteps<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Runs a stepwise computation in slices. */
export async function runInSlices<T>(steps: Iterator<void, T>): Promise<T> {
  const timeSlice = new TimeSlice()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (timeSlice.isOver()) await timeSlice.renew()
  }
}
