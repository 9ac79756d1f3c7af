/** Applies the batches of a log record, which lie in a memtable's arena, to the memtable. */
import type { Place } from '../errors.ts'
import { decodeBatches, type OperationVisitor } from '../format/write-batch.ts'
import type { Memtable } from '../memtable/memtable.ts'

/** The visitor's target, set for the duration of one call so that no call allocates a closure. */
let target: Memtable
let targetChunk = 0

const add: OperationVisitor = (operation) => target.add(targetChunk, operation)

/**
 * REQUIRES: [start, end) is committed to the memtable's arena.
 * @param chunk number of the arena chunk
 * @throws LEVEL_CORRUPTION
 */
export function applyBatches(memtable: Memtable, chunk: number, start: number, end: number, place: Place): void {
  target = memtable
  targetChunk = chunk
  decodeBatches(memtable.arena.chunk(chunk), start, end, place, add)
}
