/** The flush kernel's exports: see assembly/index.ts. Positions are addresses in its memory. */

/** Results of build(). */
export const Built = {
  done: 0,
  /** The requested amount of work is done. */
  slice: 1,
  /** There is enough output to write. */
  outputFull: 2,
  /** A table may have to end before the next key: the host decides, and calls cross(). */
  border: 3
} as const

interface Exported {
  readonly value: number
}

export interface KernelFunctions {
  setEntries(at: number): void
  /** Converts the chunk offsets of entries [from, to) to addresses. @param chunks addresses of the chunks, u32 each */
  relocate(from: number, to: number, chunks: number): void
  /** Over the entries relocated since setEntries(). */
  readonly largestEntry: Exported
  readonly keyBytes: Exported

  setOrder(entries: number, next: number, pairs: number): void
  /** Does sorting work for about this many entries; not 0 while there is more to do. */
  orderSome(entries: number): number

  setHashes(at: number): void
  setBlocks(output: number, blockEnds: number, restarts: number, handles: number, separators: number): void
  setBlockOptions(blockBytes: number, restartInterval: number, isCompressed: boolean): void
  /** REQUIRES: entries are in order. @param snapshots address of their sequence numbers, f64 each */
  begin(snapshots: number, count: number): void
  beginTable(number: number): void
  build(work: number): number
  cross(shared: number, hasKey: boolean, key: number, length: number): void
  readonly nextKey: Exported
  readonly nextLength: Exported
  readonly nextShared: Exported
  readonly lastKey: Exported
  readonly lastLength: Exported

  outputBytes(): number
  /** Number of complete blocks in the output. */
  readonly outputBlocks: Exported
  outputWritten(): void
  endBlocks(): void
  /** REQUIRES: the bits are 0. */
  fillFilter(at: number, bits: number, probes: number): void
  readonly hashCount: Exported
  /** Properties of the current table. */
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
