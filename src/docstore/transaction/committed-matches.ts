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

/** What a call looks for in a collection. */
export interface CommittedFind {
  readonly collection: OpenCollection
  readonly find: CompiledFind
  readonly control: Control
  /** Ordinals of documents that it does not see. */
  readonly changed: ReadonlySet<number>
}

/**
 * Returns up to `find.limit` matches that are not among the `changed` ones, in the requested order.
 * @param use whether they are about to be changed: only then do they have records
 * @throws PetalError TransactionTooLarge for more to be changed than a transaction can, before all of it is read
 */
export async function committedMatches(wanted: CommittedFind, use: 'read' | 'replace'): Promise<Match[]> {
  const found: Match[] = []
  let charactersRead = 0
  await visit(wanted, use, (match) => {
    const own = use === 'read' ? match : complete(match)
    found.push(own)
    if (use === 'read') return
    charactersRead += own.record.length
    assertCharacters(charactersRead)
  })
  return found
}

/** Counts what committedMatches() would return, keeping nothing of it. */
export async function countCommitted(wanted: CommittedFind): Promise<number> {
  let count = 0
  await visit(wanted, 'read', () => {
    count++
  })
  return count
}

async function visit(
  { collection, find, control, changed }: CommittedFind,
  use: 'read' | 'replace',
  take: (match: Match) => void
): Promise<void> {
  control.beginSlice()
  control.check()
  const execution =
    use === 'replace' ? beginReplacing(collection, find, control) : beginFind(collection, find, control, new Meter())
  const steps = matchesOf(execution, find)
  const timeSlice = new TimeSlice()
  try {
    for (let left = find.limit; left > 0; ) {
      const slice = await advance(steps)
      if (slice === undefined) break
      for (const match of slice) {
        if (timeSlice.isOver()) await timeSlice.renew()
        if (changed.has(match.ordinal)) continue
        take(match)
        left--
      }
    }
  } catch (error) {
    throw fromStore(error)
  } finally {
    end(steps)
    execution.view.close()
  }
}

/** The record of a document from the cache is read when it is asked for, which the view must be open for. */
function complete({ ordinal, record, document, characters }: Match): Match {
  return { ordinal, record, document, characters }
}
