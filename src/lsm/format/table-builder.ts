/**
 * Writes a table: data blocks, sections, key filter, properties, metaindex, index, footer.
 *
 * Invariants:
 * 1. Keys ascend bytewise; versions of a key descend by sequence number. Anything else is refused.
 * 2. The same entries and options produce the same bytes.
 * 3. A value of blockBytes or more gets a block of its own, so that it can be read by itself.
 */
import { copyBytes } from '../../model/copy-bytes.ts'
import { corruption } from '../errors.ts'
import type { OpenFile } from '../fs/file-system.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { BlockBuilder } from './block-builder.ts'
import { BlockCompressor } from './block-compressor.ts'
import { BlockIndexBuilder } from './block-index.ts'
import { Codec } from './codec.ts'
import { EntryKind, type EntryRanges } from './entry.ts'
import { footerBytes } from './footer.ts'
import { KeyFilterBuilder, keyHash } from './key-filter.ts'
import type { SectionCollector } from './section-collector.ts'
import { isSeparatedByLast, separator } from './separator.ts'
import { sealBlock, writeTableEnd } from './table-end.ts'
import type { TableWriteOptions } from './table-options.ts'
import { TableOutput } from './table-output.ts'

export class TableBuilder {
  readonly #number: number
  readonly #blockBytes: number
  readonly #collector: SectionCollector | undefined
  readonly #output: TableOutput
  readonly #block: BlockBuilder
  readonly #index = new BlockIndexBuilder()
  readonly #filter: KeyFilterBuilder
  readonly #compressor: BlockCompressor

  #lastKey = Buffer.alloc(64)
  #lastLength = 0
  #lastSequence = 0
  /** Payload bytes of the block that is waiting for its separator; 0: none. */
  #endedPayloadBytes = 0

  #smallest = Buffer.alloc(0)
  #smallestSequence = Number.MAX_SAFE_INTEGER
  #largestSequence = 0
  #entries = 0
  #tombstones = 0
  #rawBytes = 0
  #compressedBlocks = 0

  /**
   * @param file empty and writable; the caller syncs and closes it
   * @param number of the file: part of every checksum
   */
  constructor(file: OpenFile, number: number, options: TableWriteOptions, collector?: SectionCollector) {
    this.#number = number
    this.#blockBytes = Math.max(1, options.blockBytes)
    this.#collector = collector
    this.#output = new TableOutput(file)
    this.#block = new BlockBuilder(this.#output, options.restartInterval)
    this.#filter = new KeyFilterBuilder(options.keyFilterBits)
    this.#compressor = new BlockCompressor(options.codec)
  }

  get entries(): number {
    return this.#entries
  }

  /** Approximate current size of the table: the collector's sections are not counted. */
  get rawBytes(): number {
    return this.#rawBytes
  }

  get fileBytes(): number {
    return this.#output.offset + this.#index.bytes + this.#filter.bytes + footerBytes
  }

  /** @throws LEVEL_CORRUPTION unless the entry is after the previous one, LEVEL_IO_ERROR */
  add(entry: EntryRanges): void {
    const { keyBytes, keyStart, keyEnd, sequence, kind, valueStart, valueEnd } = entry
    const shared = this.#sharedWithLast(keyBytes, keyStart, keyEnd)
    const isNewKey = shared < keyEnd - keyStart || shared < this.#lastLength || this.#entries === 0
    if (!isNewKey && sequence >= this.#lastSequence) throw this.#outOfOrder()
    const isLarge = valueEnd - valueStart >= this.#blockBytes
    if (isLarge && !this.#block.isEmpty) this.#endBlock()
    if (this.#endedPayloadBytes > 0) {
      this.#separate(keyBytes.subarray(keyStart, keyEnd), shared, valueEnd - valueStart)
    }

    this.#block.add(entry, shared)
    this.#collector?.add(entry)
    if (isNewKey) {
      this.#filter.add(keyHash(keyBytes, keyStart, keyEnd))
      this.#keepKey(keyBytes, keyStart, keyEnd, shared)
    }
    this.#count(sequence, kind, keyEnd - keyStart + valueEnd - valueStart)
    if (isLarge || this.#block.payloadBytes >= this.#blockBytes) this.#endBlock()
  }

  /**
   * Writes the rest of the table. REQUIRES: at least one entry was added.
   * @throws LEVEL_IO_ERROR
   */
  finish(): TableMeta {
    if (!this.#block.isEmpty) this.#endBlock()
    const largest = Buffer.from(this.#lastKey.subarray(0, this.#lastLength))
    if (this.#endedPayloadBytes > 0) this.#index.add(this.#endedPayloadBytes, largest)
    const dataBytes = this.#output.offset

    writeTableEnd(this.#output, this.#compressor, this.#number, {
      sections: this.#collector?.finish() ?? [],
      filter: this.#filter.finish(),
      properties: this.#properties(dataBytes),
      index: this.#index.finish()
    })
    return {
      number: this.#number,
      bytes: this.#output.offset,
      smallest: this.#smallest,
      largest,
      smallestSequence: this.#smallestSequence,
      largestSequence: this.#largestSequence,
      entries: this.#entries,
      tombstones: this.#tombstones,
      rawBytes: this.#rawBytes
    }
  }

  #endBlock(): void {
    this.#block.finish()
    const { payloadBytes, codec } = sealBlock(this.#output, this.#compressor, this.#number, this.#block.start)
    if (codec !== Codec.none) this.#compressedBlocks++
    this.#endedPayloadBytes = payloadBytes
    this.#collector?.endBlock()
    this.#output.writeWhenFull()
  }

  /** Adds the ended block to the index, now that the following entry, and with it the separator, is known. */
  #separate(next: Uint8Array, shared: number, nextValueBytes: number): void {
    const last = this.#lastKey.subarray(0, this.#lastLength)
    const payloadBytes = this.#endedPayloadBytes
    const byLast = isSeparatedByLast(payloadBytes, nextValueBytes, this.#blockBytes)
    this.#index.add(payloadBytes, Buffer.from(byLast ? last : separator(last, next, shared)))
    this.#endedPayloadBytes = 0
  }

  /** Length of the prefix shared with the last key. @throws LEVEL_CORRUPTION if the last key is greater */
  #sharedWithLast(keyBytes: Uint8Array, keyStart: number, keyEnd: number): number {
    const last = this.#lastKey
    const length = Math.min(this.#lastLength, keyEnd - keyStart)
    let shared = 0
    while (shared < length && last[shared] === keyBytes[keyStart + shared]) shared++
    const isBehind = shared < length ? keyBytes[keyStart + shared]! > last[shared]! : shared === this.#lastLength
    if (!isBehind) throw this.#outOfOrder()
    return shared
  }

  #keepKey(keyBytes: Uint8Array, keyStart: number, keyEnd: number, shared: number): void {
    const length = keyEnd - keyStart
    if (length > this.#lastKey.length) {
      const larger = Buffer.allocUnsafeSlow(length * 2)
      this.#lastKey.copy(larger, 0, 0, shared)
      this.#lastKey = larger
    }
    copyBytes(keyBytes, keyStart + shared, keyEnd, this.#lastKey, shared)
    this.#lastLength = length
    if (this.#entries === 0) this.#smallest = Buffer.from(keyBytes.subarray(keyStart, keyEnd))
  }

  #count(sequence: number, kind: EntryKind, rawBytes: number): void {
    this.#lastSequence = sequence
    if (sequence < this.#smallestSequence) this.#smallestSequence = sequence
    if (sequence > this.#largestSequence) this.#largestSequence = sequence
    if (kind === EntryKind.tombstone) this.#tombstones++
    this.#entries++
    this.#rawBytes += rawBytes
  }

  #properties(dataBytes: number) {
    return {
      entries: this.#entries,
      tombstones: this.#tombstones,
      rawBytes: this.#rawBytes,
      smallestSequence: this.#smallestSequence,
      largestSequence: this.#largestSequence,
      blocks: this.#index.count,
      dataBytes,
      compressedBlocks: this.#compressedBlocks
    }
  }

  #outOfOrder(): Error {
    return corruption('entries out of order', { path: this.#output.path, offset: this.#output.offset })
  }
}
