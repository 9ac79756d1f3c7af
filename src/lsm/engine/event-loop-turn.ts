/** When the store yields to the event loop: by the clock shared by all work of one event-loop turn. */
export { isTurnLong, workMilliseconds } from '../../model/time-slice.ts'

/** Resolves in the next event-loop turn, together with all others that wait. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
