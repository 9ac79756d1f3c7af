/** How a table is written. Data only: it crosses into worker threads. */
import type { ExtractorSpec } from '../value/extractor.ts'

export type CodecName = 'none' | 'lz4'

export interface TableWriteOptions {
  /** Bytes of a data block before compression, approximately. */
  readonly blockBytes: number
  /** Entries between two whole keys in a block. */
  readonly restartInterval: number
  readonly codec: CodecName
  /** Bits per key of the key filter; 0 writes none. */
  readonly keyFilterBits: number
  /** Undefined writes no value filters and no zone maps. */
  readonly values: ValueWriteOptions | undefined
}

export interface ValueWriteOptions {
  readonly extractor: ExtractorSpec
  /** Bits (m) of the filter of a table: fixed, so that filters can be combined. 0 writes none. */
  readonly filterBits: number
  /** Bits set per pair (k). */
  readonly filterHashes: number
  /** Bits per pair of the filter of one block; 0 writes none. */
  readonly blockFilterBits: number
  /** In the table, or in a file of its own beside it. */
  readonly placement: 'table' | 'side-file'
}
