/** Lets calls that wait for their turn end as soon as their signal fires or their time is over. */
import { AbortedError } from '../../model/errors.ts'
import { callOnAbort } from '../call-on-abort.ts'
import type { Control } from '../read/control.ts'

/** The longest delay of a timer. */
export const maxDelay = 2 ** 31 - 1

/**
 * Settles like `done`, or rejects when the signal fires while the call is waiting. Once its turn has come, the call
 * looks at the signal itself, and knows whether it has changed anything.
 */
export function untilAborted<T>(done: Promise<T>, signal: AbortSignal, isWaiting: () => boolean): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      if (isWaiting()) reject(new AbortedError(signal.reason))
    }
    if (signal.aborted) onAbort()
    const forget = callOnAbort(signal, onAbort)
    done.finally(forget).then(resolve, reject)
  })
}

/** Like untilAborted(), for the signal and the time limit of a call, if it has them. */
export function untilOver<T>(done: Promise<T>, control: Control, isWaiting: () => boolean): Promise<T> {
  const inTime = control.remainingMilliseconds === undefined ? done : untilExpired(done, control, isWaiting)
  return control.signal === undefined ? inTime : untilAborted(inTime, control.signal, isWaiting)
}

/** Like untilAborted(), for the time limit. */
function untilExpired<T>(done: Promise<T>, control: Control, isWaiting: () => boolean): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = (): void => {
      if (!isWaiting()) return
      try {
        control.check()
      } catch (error) {
        reject(error)
        return
      }
      // If this is too early, look() waits again.
      timer = setTimeout(look, Math.min(control.remainingMilliseconds ?? 0, maxDelay))
    }
    look()
    done.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}
