/** Options for writing a table. Plain data: it is sent to worker threads. */
import type { ExtractorSpec } from '../value/extractor.ts'

export type CodecName = 'none' | 'lz4'

export interface TableWriteOptions {
  /** Bytes of a data block before compression, approximately. */
  readonly blockBytes: number
  /** Entries between restart points, which store the whole key, in a block. */
  readonly restartInterval: number
  readonly codec: CodecName
  /** Bits per key of the key filter; 0 writes none. */
  readonly keyFilterBits: number
  /** Undefined: no value filters and no zone maps. */
  readonly values: ValueWriteOptions | undefined
}

export interface ValueWriteOptions {
  readonly extractor: ExtractorSpec
  /** Bits (m) of a table's filter: fixed, so that filters can be combined. 0: none. */
  readonly filterBits: number
  /** Bits set per pair (k). */
  readonly filterHashes: number
  /** Bits per pair of a block's filter; 0: none. */
  readonly blockFilterBits: number
  /** In the table, or in a separate file beside it. */
  readonly placement: 'table' | 'side-file'
}
