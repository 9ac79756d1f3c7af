/**
 * Limits how many segments are built by threads at the same time: many collections may be rebuilt at once, and each
 * thread needs memory, and at first a second of a processor.
 */

import { defaultThreads } from '../threads/default-threads.ts'
import { untilAborted } from '../write/until-aborted.ts'

const maxBuilding = Math.max(1, defaultThreads())

let building = 0
const waiting: (() => void)[] = []

/**
 * Calls `build` when its turn has come, in the order of calls.
 * @throws AbortedError if the signal fires before that; `build` looks at it itself
 */
export function inTurn<T>(build: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let isWaiting = true
  const built = turn().then(() => {
    isWaiting = false
    return build().finally(endTurn)
  })
  return signal === undefined ? built : untilAborted(built, signal, () => isWaiting)
}

async function turn(): Promise<void> {
  if (building === maxBuilding) return new Promise((resolve) => waiting.push(resolve))
  building++
}

/** Passes the turn on. */
function endTurn(): void {
  const next = waiting.shift()
  if (next === undefined) building--
  else next()
}
