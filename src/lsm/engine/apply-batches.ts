/** Applies the batches of a log record, which lie in a memtable's arena, to the memtable. */
import type { Place } from '../errors.ts'
import { EntryKind } from '../format/entry.ts'
import { decodeBatches, type OperationVisitor } from '../format/write-batch.ts'
import type { Memtable } from '../memtable/memtable.ts'
import type { Gaps } from '../read/gaps.ts'

/** The visitor's target, set for the duration of one call so that no call allocates a closure. */
let target: Memtable
let targetChunk = 0
/** Not kept beyond the call: they lead to the store, which may be closed and collected before the next one. */
let targetGaps: Gaps | undefined

const add: OperationVisitor = (operation) => target.add(targetChunk, operation)

const addTakingFromGaps: OperationVisitor = (operation) => {
  if (operation.kind === EntryKind.put) targetGaps?.onPut(operation.keyBytes, operation.keyStart, operation.keyEnd)
  target.add(targetChunk, operation)
}

/**
 * REQUIRES: [start, end) is committed to the memtable's arena.
 * @param chunk number of the arena chunk
 * @param gaps from which the keys put are taken
 * @throws LEVEL_CORRUPTION
 */
export function applyBatches(
  memtable: Memtable,
  chunk: number,
  start: number,
  end: number,
  place: Place,
  gaps?: Gaps
): void {
  target = memtable
  targetChunk = chunk
  targetGaps = gaps
  try {
    const visit = gaps?.isEmpty === false ? addTakingFromGaps : add
    decodeBatches(memtable.arena.chunk(chunk), start, end, place, visit)
  } finally {
    targetGaps = undefined
  }
}
