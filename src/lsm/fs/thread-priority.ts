/** The priority of one thread, which Linux has and Node.js does not tell of. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'

/** Of Linux's 40: its share of a processor that others want, too, is four tenths of theirs. */
const steps = 4

/**
 * Puts this thread behind the others of its process, and of the machine, that want its processor: one that has waited for
 * something, the event loop say, then goes on at once. Elsewhere than on Linux a priority is that of the whole process, and
 * nothing is done.
 */
export function lowerThreadPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), steps)
  } catch {
    // It is as good as the others then.
  }
}
