/** Long work does not block the event loop, and shares it with reads. */
import { edit, mutant } from './mutant.mjs'

const file = 'model/time-slice'
const test = 'model/time-slice'

export const slices = [
  mutant(
    'work keeps its own slice length while reads wait',
    edit(file, 'for (const { milliseconds } of waiting) sliceOfWork = Math.max(sliceOfWork, milliseconds)', ''),
    test
  ),
  mutant(
    'work keeps the slice length of reads when no read waits any more',
    edit(file, '  sliceOfWork = workMilliseconds\n  for', '  for'),
    test
  ),
  mutant(
    'all waiting work resumes in the same turn of the loop',
    edit(file, '  next?.resolve()', '  next?.resolve()\n  for (const other of waiting.splice(0)) other.resolve()'),
    test
  ),
  mutant('a turn of the loop never ends', edit(file, '  isMarked = false\n', ''), test),
  mutant(
    'calls that are answered at once block the event loop',
    edit(file, '  if (!isTurnLong()) return answer\n', '  if (turnStart >= 0) return answer\n'),
    'docstore/call-turns'
  ),
  mutant(
    'all matches are sorted in one turn',
    edit('docstore/read/sorted', 'return step.value\n    yield* pauseIfDue(execution)', 'return step.value'),
    'docstore/call-turns'
  ),
  mutant(
    'updates by _id that share a commit are made in one turn',
    edit(
      'docstore/write/batches',
      '    if (batches.timeSlice.isOver()) await batches.timeSlice.renew()\n    await visit(match)',
      '    await visit(match)'
    ),
    'docstore/update-turns'
  )
]
