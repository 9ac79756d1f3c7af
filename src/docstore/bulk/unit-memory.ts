/**
 * Memory for the lines of units. It is this process's: the next unit has it again, and so has the next import. V8 knows nothing
 * of the size of what threads share, and would let it pile up.
 *
 * Invariant: what is idle for a while is let go.
 */

const idleMilliseconds = 10_000
/** Of imports by four threads: more are held by none that is told nothing else. */
const maxIdle = 5

let idle: SharedArrayBuffer[] = []
let timer: NodeJS.Timeout | undefined

/** So many bytes, whatever they hold; pages that are never written to take no memory. undefined where there is no room. */
export function takeUnitMemory(bytes: number): SharedArrayBuffer | undefined {
  const found = idle.findIndex(({ byteLength }) => byteLength === bytes)
  if (found >= 0) return idle.splice(found, 1)[0]
  try {
    return new SharedArrayBuffer(bytes)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Nobody reads it any more. */
export function giveUnitMemory(memory: SharedArrayBuffer): void {
  if (memory.byteLength === 0 || idle.length >= maxIdle) return
  idle.push(memory)
  clearTimeout(timer)
  timer = setTimeout(dropUnitMemory, idleMilliseconds)
  timer.unref()
}

/** Lets go what is idle. */
export function dropUnitMemory(): void {
  idle = []
}
