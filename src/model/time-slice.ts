/**
 * Long computations in slices: the event loop gets a turn whenever a slice, or all that ran in this turn, has used up its
 * time.
 *
 * Most reads and writes are answered without leaving the thread, so that a loop of awaited operations runs on in
 * microtasks for ever: no timer, no socket and no message of a worker would get through. Whoever works asks here, and
 * lets the loop turn when it is due.
 *
 * Invariants:
 * 1. One slice is taken up again in a turn of the loop, however many wait; of calls that have their answers, all get them at once.
 * 2. Nothing is scheduled while nothing happens; one immediate per turn in which somebody asks, gone by the next.
 * 3. Work that goes on while a read waits has a slice as long as the read's, so that both advance alike.
 */

/** Milliseconds a read may take, and all that runs in one turn of the event loop. */
export const sliceMilliseconds = 2

/**
 * The same where a turn follows another: imports, writes, the index's own work. Where other threads want its core, Linux takes a
 * thread off it for four milliseconds: of slices of two, one in a hundred then kept a timer for six or seven (measured).
 * Iterators of the store are a third slower with it.
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
 * True when the event loop has not turned for a while.
 * @param milliseconds that a turn may take
 * @param now performance.now(), which takes its time
 */
export function isTurnLong(milliseconds = sliceMilliseconds, now = clock.now()): boolean {
  if (isMarked) return now - turnStart > milliseconds
  isMarked = true
  turnStart = now
  later(endTurn)
  return false
}

interface Waiting {
  /** Of the slice it will take. */
  readonly milliseconds: number
  resolve(): void
}

const waiting: Waiting[] = []

/** What work may take of the turn that goes on. */
let sliceOfWork = workMilliseconds

function takeTurn(): void {
  const next = waiting.shift()
  // Asked before the next one is scheduled: it has a turn of its own only if this one has ended by then.
  isTurnLong()
  sliceOfWork = workMilliseconds
  for (const { milliseconds } of waiting) sliceOfWork = Math.max(sliceOfWork, milliseconds)
  if (waiting.length > 0) later(takeTurn)
  next?.resolve()
}

/**
 * Lets the event loop run whatever waits.
 * @param milliseconds that the slice after it takes
 */
export function nextTurn(milliseconds = workMilliseconds): Promise<void> {
  isTurnLong()
  return new Promise((resolve) => {
    waiting.push({ milliseconds, resolve })
    if (waiting.length === 1) later(takeTurn)
  })
}

/**
 * Call between steps of a long computation; waits a turn when the slice, or the turn, is used up.
 * @param sliceStart performance.now() when the slice began
 * @returns the start of the slice that goes on
 */
export function breathe(sliceStart: number): number | Promise<number> {
  const now = clock.now()
  if (!isTurnLong(sliceOfWork, now) && now - sliceStart < sliceOfWork) return sliceStart
  return nextTurn().then(() => clock.now())
}

/** Call before a step of a millisecond or more; waits where others have used up the turn. */
export function turnIfLong(): void | Promise<void> {
  return isTurnLong(sliceOfWork) ? nextTurn() : undefined
}

/** Resolves in the turn after this one, for all calls that end in it. */
let turnOfCalls: Promise<void> | undefined

/**
 * Call with what a call of the library resolves with: where the turn has been long, it is given in the next one. A loop of calls
 * that are answered without a step of work would otherwise never let the event loop turn.
 */
export function answered<T>(answer: T): T | Promise<T> {
  if (!isTurnLong()) return answer
  turnOfCalls ??= new Promise((resolve) => {
    later(() => {
      turnOfCalls = undefined
      resolve()
    })
  })
  return turnOfCalls.then(() => answer)
}

/** Runs a computation that pauses between its steps, in one go. */
export function runSteps<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Runs a computation that pauses between its steps in slices. */
export async function runInSlices<T>(steps: Iterator<void, T>): Promise<T> {
  let sliceStart = clock.now()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const slice = breathe(sliceStart)
    sliceStart = slice instanceof Promise ? await slice : slice
  }
}
