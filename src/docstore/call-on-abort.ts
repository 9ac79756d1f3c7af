/** Calls functions when a signal fires. */

/** What waits for a signal; one listener for all of it, because Node warns when a signal has more than ten. */
interface Waiting {
  readonly calls: Set<() => void>
  readonly onAbort: () => void
}

const waitingFor = new WeakMap<AbortSignal, Waiting>()

/** Calls `call` when the signal fires, unless the function that is returned was called before. */
export function callOnAbort(signal: AbortSignal, call: () => void): () => void {
  const { calls, onAbort } = waitingFor.get(signal) ?? begin(signal)
  calls.add(call)
  return () => {
    if (!calls.delete(call) || calls.size > 0) return
    signal.removeEventListener('abort', onAbort)
    waitingFor.delete(signal)
  }
}

function begin(signal: AbortSignal): Waiting {
  const calls = new Set<() => void>()
  const onAbort = (): void => {
    for (const call of [...calls]) call()
  }
  const waiting = { calls, onAbort }
  waitingFor.set(signal, waiting)
  signal.addEventListener('abort', onAbort)
  return waiting
}
