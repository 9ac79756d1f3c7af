/** Reads the committed documents that a call in a transaction finds. */
import { TimeSlice } from '../../model/time-slice.ts'
import { fromStore } from '../errors.ts'
import type { Match } from '../read/confirmer.ts'
import type { Control } from '../read/control.ts'
import { beginFind, beginReplacing, type CompiledFind, matchesOf } from '../read/find.ts'
import type { FindSource } from '../read/find-source.ts'
import { Meter } from '../read/meter.ts'
import { advance, end } from '../read/steps.ts'
import { assertCharacters } from './room.ts'

/**
 * Returns up to `find.limit` matches in the requested order.
 * @param find without `skip`
 * @param use whether they are about to be changed: only then do they have records
 * @throws PetalError TransactionTooLarge for more to be changed than a transaction can, before all of it is read
 */
export async function committedMatches(
  source: FindSource,
  find: CompiledFind,
  control: Control,
  use: 'read' | 'replace'
): Promise<Match[]> {
  const found: Match[] = []
  let charactersRead = 0
  control.beginSlice()
  control.check()
  const isReading = use === 'read'
  const execution = isReading ? beginFind(source, find, control, new Meter()) : beginReplacing(source, find, control)
  const steps = matchesOf(execution, find)
  const timeSlice = new TimeSlice()
  try {
    while (found.length < find.limit) {
      const slice = await advance(steps)
      if (slice === undefined) break
      for (const match of slice.slice(0, find.limit - found.length)) {
        if (timeSlice.isOver()) await timeSlice.renew()
        found.push(isReading ? match : complete(match))
        if (isReading) continue
        charactersRead += found.at(-1)!.record.length
        assertCharacters(charactersRead)
      }
    }
  } catch (error) {
    throw fromStore(error)
  } finally {
    end(steps)
    execution.view.close()
  }
  return found
}

/** The record of a document from the cache is read when it is asked for, which the view must be open for. */
function complete({ ordinal, record, document, characters }: Match): Match {
  return { ordinal, record, document, characters }
}
