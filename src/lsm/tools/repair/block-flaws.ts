/** Checks whether a block with a valid checksum holds entries that may follow the previous ones. */
import type { Block } from '../../format/block.ts'
import type { BlockCursor } from '../../format/block-cursor.ts'
import { EntryKind, maxSequence } from '../../format/entry.ts'
import type { EntryTally } from '../entry-tally.ts'
import { isDamage } from './losses.ts'

/**
 * @param cursor over the block
 * @param tally counts this block's entries only
 * @returns the flaw; undefined if the block can be used
 */
export function flawIn(block: Block, cursor: BlockCursor, tally: EntryTally): string | undefined {
  try {
    for (let i = 0, last = -1; i < block.restartCount; i++) {
      const restart = block.restart(i)
      if (restart <= last || (i === 0 && restart !== block.start)) return 'restarts out of order'
      last = restart
    }
    for (cursor.seekToFirst(); cursor.isValid; cursor.next()) {
      const { sequence, kind, valueStart, valueEnd } = cursor
      const canBe = sequence <= maxSequence && (kind === EntryKind.put || valueEnd === valueStart)
      if (!canBe || !tally.isInOrder(cursor)) return 'entries out of order'
      tally.add(cursor)
    }
    return undefined
  } catch (error) {
    if (isDamage(error)) return (error as Error).message
    throw error
  }
}
