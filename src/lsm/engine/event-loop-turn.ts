/** When the store lets the event loop turn: by the clock that all work of the turn has in common. */
export { isTurnLong, workMilliseconds } from '../../model/time-slice.ts'

/** Resolves in the next turn; of many that wait all do. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
