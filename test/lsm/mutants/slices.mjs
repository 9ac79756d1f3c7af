/** Long work lets the event loop turn, and keeps pace with the reads it shares the loop with. */
import { edit, mutant } from './mutant.mjs'

const file = 'model/time-slice'
const test = 'model/time-slice'

export const slices = [
  mutant(
    'work has a slice of its own length while reads wait',
    edit(file, 'for (const { milliseconds } of waiting) sliceOfWork = Math.max(sliceOfWork, milliseconds)', ''),
    test
  ),
  mutant(
    "work keeps a read's slice when no read waits any more",
    edit(file, '  sliceOfWork = workMilliseconds\n  for', '  for'),
    test
  ),
  mutant(
    'all that wait are taken up in one turn of the loop',
    edit(file, '  next?.resolve()', '  next?.resolve()\n  for (const other of waiting.splice(0)) other.resolve()'),
    test
  ),
  mutant('a turn of the loop never ends', edit(file, '  isMarked = false\n', ''), test),
  mutant(
    'calls that are answered at once keep the event loop',
    edit(file, '  if (!isTurnLong()) return answer\n', '  if (turnStart >= 0) return answer\n'),
    'docstore/call-turns'
  )
]
