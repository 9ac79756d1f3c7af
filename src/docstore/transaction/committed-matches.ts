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

/** Receives the matches of one attempt. */
interface Taker {
  /** Forgets those of the attempt before. */
  begin(): void
  take(match: Match): void
}

/**
 * Returns up to `find.limit` matches that are not among the `changed` ones, in the requested order.
 * @param use whether they are about to be changed: only then do they have records
 * @throws PetalError TransactionTooLarge for more to be changed than a transaction can, before all of it is read
 */
export async function committedMatches(wanted: CommittedFind, use: 'read' | 'replace'): Promise<Match[]> {
  let found: Match[] = []
  let charactersRead = 0
  await visit(wanted, use, {
    begin: () => {
      found = []
      charactersRead = 0
    },
    take: (match) => {
      const own = use === 'read' ? match : complete(match)
      found.push(own)
      if (use === 'read') return
      charactersRead += own.record.length
      assertCharacters(charactersRead)
    }
  })
  return found
}

/** Counts what committedMatches() would return, keeping nothing of it. */
export async function countCommitted(wanted: CommittedFind): Promise<number> {
  let count = 0
  await visit(wanted, 'read', {
    begin: () => {
      count = 0
    },
    take: () => {
      count++
    }
  })
  return count
}

/**
 * Changed documents are rarely among the matches, and nothing is to be read beyond the limit, where a filter may fail. If
 * some are, the matches are read again, with room for all of them.
 */
async function visit(wanted: CommittedFind, use: 'read' | 'replace', taker: Taker): Promise<void> {
  if (!(await visitWithRoom(0, wanted, use, taker))) await visitWithRoom(wanted.changed.size, wanted, use, taker)
}

/**
 * @param room how many of the matches may be changed documents
 * @returns false if these have taken the place of others
 */
async function visitWithRoom(
  room: number,
  { collection, find, control, changed }: CommittedFind,
  use: 'read' | 'replace',
  taker: Taker
): Promise<boolean> {
  taker.begin()
  control.beginSlice()
  control.check()
  const roomy = { ...find, limit: find.limit + room }
  const execution =
    use === 'replace' ? beginReplacing(collection, roomy, control) : beginFind(collection, roomy, control, new Meter())
  const steps = matchesOf(execution, roomy)
  const timeSlice = new TimeSlice()
  let left = find.limit
  let others = 0
  try {
    while (left > 0 && others < left + room) {
      const slice = await advance(steps)
      if (slice === undefined) return true
      for (const match of slice) {
        if (timeSlice.isOver()) await timeSlice.renew()
        if (changed.has(match.ordinal)) others++
        else if (left > 0) {
          taker.take(match)
          left--
        }
      }
    }
  } catch (error) {
    throw fromStore(error)
  } finally {
    end(steps)
    execution.view.close()
  }
  return left === 0
}

/** The record of a document from the cache is read when it is asked for, which the view must be open for. */
function complete({ ordinal, record, document, characters }: Match): Match {
  return { ordinal, record, document, characters }
}
