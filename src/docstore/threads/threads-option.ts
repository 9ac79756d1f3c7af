/** The `threads` option of bulk writes; rebuilds have one of their own (jobs/rebuild-job.ts), checked alike. */
import type { Known } from '../known-options.ts'
import { assertWholeNumber } from '../option-checks.ts'

export interface ThreadsOption {
  /**
   * Number of worker threads that build whole segments when more than 65,536 documents are written, leaving this thread
   * free for other work. Each uses some 150 MB while it works. Default: one less than the number of processors, but
   * from 2 to 4, and none on a single processor; at most one per GiB of memory. On Linux they run at low priority.
   */
  readonly threads?: number | undefined
}

export const knownThreads = { threads: true } satisfies Known<ThreadsOption>

export const maxThreads = 64

/** @throws PetalError BadValue */
export function checkThreads({ threads }: ThreadsOption): void {
  if (threads !== undefined) assertWholeNumber('threads', threads, 0, maxThreads)
}
