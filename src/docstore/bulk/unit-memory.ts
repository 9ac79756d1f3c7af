/**
 * Memory for the lines of units, pooled by the process for the next unit and the next import: V8 does not account for
 * shared memory, and would let it pile up.
 *
 * It is kept as long as the threads that read it: the next import then touches no fresh pages, which on some virtual
 * machines takes 5 % of an import's processor time.
 *
 * Invariant: memory that has been idle for a while is released.
 */
import { idleMilliseconds } from '../threads/thread-pool.ts'

/** Enough for an import with four threads; by default, none holds more. */
const maxIdle = 5

let idle: SharedArrayBuffer[] = []
let timer: NodeJS.Timeout | undefined

/**
 * Returns memory with arbitrary contents; pages never written to take no physical memory. undefined if there is no
 * room.
 */
export function acquireUnitMemory(bytes: number): SharedArrayBuffer | undefined {
  const found = idle.findIndex(({ byteLength }) => byteLength === bytes)
  if (found >= 0) return idle.splice(found, 1)[0]
  try {
    return new SharedArrayBuffer(bytes)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Returns memory that is no longer in use to the pool. */
export function releaseUnitMemory(memory: SharedArrayBuffer): void {
  if (memory.byteLength === 0 || idle.length >= maxIdle) return
  idle.push(memory)
  clearTimeout(timer)
  timer = setTimeout(freeIdleUnitMemory, idleMilliseconds)
  timer.unref()
}

/** Releases idle memory. */
export function freeIdleUnitMemory(): void {
  idle = []
}
