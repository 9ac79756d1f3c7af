/**
 * How long JavaScript has been running since the event loop last turned.
 *
 * The store answers most reads and writes without leaving the thread, so that a loop of awaited operations runs on in
 * microtasks for ever: no timer, no socket and no message of the compaction worker would get through. Operations ask
 * here and let the loop turn when it is due.
 *
 * Invariant: nothing is scheduled while nothing happens; one immediate per turn that does operations, which is gone
 * by the next turn.
 */

/** Longest run of operations before the event loop may turn, in milliseconds. */
const longestTurn = 5

let startedAt = 0
let isMarked = false

function endTurn(): void {
  isMarked = false
}

/** True when the event loop has not turned for a while. */
export function isTurnLong(): boolean {
  const now = performance.now()
  if (isMarked) return now - startedAt > longestTurn
  isMarked = true
  startedAt = now
  setImmediate(endTurn)
  return false
}

/** Resolves in the next turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
