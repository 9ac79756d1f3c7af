/** What the flush kernel exports: see assembly/index.ts. Places are addresses in its memory. */

/** What build() came to. */
export const Built = {
  done: 0,
  /** As much as it was asked to do. */
  slice: 1,
  /** There is output that is worth writing. */
  outputFull: 2,
  /** The next key may be where a table has to end: the host looks at it, and calls cross(). */
  border: 3
} as const

interface Exported {
  readonly value: number
}

export interface KernelFunctions {
  setEntries(at: number): void
  /** Turns places of entries [from, to) in their chunks into addresses. @param chunks addresses of the chunks, u32 each */
  relocate(from: number, to: number, chunks: number): void
  /** Of the entries that were relocated since setEntries(). */
  readonly largestEntry: Exported
  readonly keyBytes: Exported

  setOrder(entries: number, next: number, pairs: number): void
  /** Sorts, about so many entries' work; not 0 while there is more to do. */
  orderSome(entries: number): number

  setHashes(at: number): void
  setBlocks(output: number, blockEnds: number, restarts: number, handles: number, separators: number): void
  setBlockOptions(blockBytes: number, restartInterval: number, isCompressed: boolean): void
  /** REQUIRES: entries are in order. @param snapshots their sequence numbers, f64 each */
  begin(snapshots: number, count: number): void
  beginTable(number: number): void
  build(work: number): number
  cross(shared: number, hasKey: boolean, key: number, length: number): void
  readonly nextKey: Exported
  readonly nextLength: Exported
  readonly nextShared: Exported
  readonly lastKey: Exported
  readonly lastLength: Exported
  readonly entriesIn: Exported

  outputBytes(): number
  /** Blocks that have ended there. */
  readonly outputBlocks: Exported
  outputWritten(): void
  endBlocks(): void
  /** Sets bits in bytes that are 0. */
  fillFilter(at: number, bits: number, probes: number): void
  readonly hashCount: Exported
  /** Of the table. */
  readonly entries: Exported
  readonly tombstones: Exported
  readonly rawBytes: Exported
  readonly firstKey: Exported
  readonly firstLength: Exported
  readonly smallestSequence: Exported
  readonly largestSequence: Exported
  readonly blockCount: Exported
  readonly compressedBlocks: Exported
  readonly separatorBytes: Exported
  /** State of a BlockCompressor. */
  readonly failures: Exported
  readonly skip: Exported
}
