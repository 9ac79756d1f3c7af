/** Reads the committed documents that a call in a transaction finds. */
import { TimeSlice } from '../../model/time-slice.ts'
import { fromStore } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Match } from '../read/confirmer.ts'
import type { Control } from '../read/control.ts'
import { beginFind, beginReplacing, type CompiledFind, matchesOf } from '../read/find.ts'
import { Meter } from '../read/meter.ts'
import { advance, end } from '../read/steps.ts'
import { assertCharacters } from './room.ts'

/**
 * Returns up to `find.limit` matches that are not among `changed` ordinals, in the requested order.
 * @param use whether they are about to be changed: only then do they have records
 * @throws PetalError TransactionTooLarge for more to be changed than a transaction can, before all of it is read
 */
export async function committedMatches(
  collection: OpenCollection,
  find: CompiledFind,
  control: Control,
  use: 'read' | 'replace',
  changed: ReadonlySet<number>
): Promise<Match[]> {
  control.beginSlice()
  control.check()
  const execution =
    use === 'replace' ? beginReplacing(collection, find, control) : beginFind(collection, find, control, new Meter())
  const steps = matchesOf(execution, find)
  const found: Match[] = []
  let charactersRead = 0
  const timeSlice = new TimeSlice()
  try {
    while (found.length < find.limit) {
      const slice = await advance(steps)
      if (slice === undefined) break
      for (const match of slice) {
        if (timeSlice.isOver()) await timeSlice.renew()
        if (changed.has(match.ordinal)) continue
        const wanted = use === 'read' ? match : complete(match)
        found.push(wanted)
        if (use === 'read') continue
        charactersRead += wanted.record.length
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
