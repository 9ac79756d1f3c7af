/** Where the bytes of an import come from. */

export type LineSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Lines wait no longer for others than this, however many would be inserted together. */
const patienceMilliseconds = 500

/** Somebody who may have something to do while no chunk comes. */
interface Waiting {
  /** False when a chunk that is late makes no difference. */
  readonly isWaiting: boolean
  pause(): Promise<void>
}

/** The chunks of a source. When one is late, whoever waits for it is told, once. */
export async function* chunksOf(source: LineSource, waiting: Waiting): AsyncGenerator<Uint8Array> {
  if (!(Symbol.asyncIterator in source)) {
    yield* source
    return
  }
  const iterator = source[Symbol.asyncIterator]()
  let isDone = false
  try {
    for (;;) {
      const next = iterator.next()
      if (waiting.isWaiting && !(await isInTime(next))) await waiting.pause()
      const { done, value } = await next
      isDone = done === true
      if (isDone) return
      yield value
    }
  } finally {
    if (!isDone) await iterator.return?.()
  }
}

async function isInTime(promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMilliseconds)
  })
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
