/** The option `threads` of whoever writes many documents. */
import type { Known } from '../known-options.ts'
import { assertWholeNumber } from '../option-checks.ts'

export interface ThreadsOption {
  /**
   * Threads that build whole segments of more than 65,536 documents, beside this one, which goes on to serve others. Each has
   * some 150 MB while it works. Default: one less than there are processors, from 2 to 4, but none where there is only one, and no
   * more than there are GiB of memory. On Linux they give way to everything else that wants a processor.
   */
  readonly threads?: number
}

export const knownThreads = { threads: true } satisfies Known<ThreadsOption>

const maxThreads = 64

/** @throws PetalError BadValue */
export function checkThreads({ threads }: ThreadsOption): void {
  if (threads !== undefined) assertWholeNumber('threads', threads, 0, maxThreads)
}
