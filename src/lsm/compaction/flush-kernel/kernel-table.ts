/** A table whose blocks the flush kernel builds. */

import { BlockCompressor } from '../../format/block-compressor.ts'
import { keyFilterSection } from '../../format/key-filter.ts'
import { writeTableEnd } from '../../format/table-end.ts'
import type { TableWriteOptions } from '../../format/table-options.ts'
import { TableOutput } from '../../format/table-output.ts'
import type { OpenFile } from '../../fs/file-system.ts'
import type { TableMeta } from '../../version/table-meta.ts'
import type { TableWriter } from '../table-outputs.ts'
import type { FlushKernel } from './flush-kernel.ts'

export class KernelTable implements TableWriter {
  readonly #kernel: FlushKernel
  readonly #number: number
  readonly #options: TableWriteOptions
  readonly #output: TableOutput

  constructor(kernel: FlushKernel, file: OpenFile, number: number, options: TableWriteOptions) {
    this.#kernel = kernel
    this.#number = number
    this.#options = options
    this.#output = new TableOutput(file)
    kernel.functions.beginTable(number)
  }

  get fileBytes(): number {
    return this.#output.offset + this.#kernel.functions.outputBytes()
  }

  get rawBytes(): number {
    return this.#kernel.functions.rawBytes.value
  }

  /** Writes the blocks in the kernel's output. @throws LEVEL_IO_ERROR */
  writeBlocks(): void {
    this.#output.writeThrough(this.#kernel.sealOutput())
    this.#kernel.functions.outputWritten()
  }

  /** REQUIRES: the kernel has built at least one entry. @throws LEVEL_IO_ERROR */
  finish(): TableMeta {
    const kernel = this.#kernel
    const { functions } = kernel
    functions.endBlocks()
    this.#output.append(kernel.sealOutput())
    functions.outputWritten()

    const entries = functions.entries.value
    const tombstones = functions.tombstones.value
    const rawBytes = functions.rawBytes.value
    const smallestSequence = functions.smallestSequence.value
    const largestSequence = functions.largestSequence.value
    const blocks = functions.blockCount.value
    const dataBytes = this.#output.offset
    const compressedBlocks = functions.compressedBlocks.value
    const { codec, keyFilterBits } = this.#options
    const compressor = new BlockCompressor(codec).continueFrom(functions.failures.value, functions.skip.value)
    writeTableEnd(this.#output, compressor, this.#number, {
      sections: [],
      filter: keyFilterSection(functions.hashCount.value, keyFilterBits, (target, bits, probes) =>
        kernel.fillFilter(target, bits, probes)
      ),
      properties: {
        entries,
        tombstones,
        rawBytes,
        smallestSequence,
        largestSequence,
        blocks,
        dataBytes,
        compressedBlocks
      },
      index: kernel.index()
    })
    return {
      number: this.#number,
      bytes: this.#output.offset,
      smallest: Buffer.from(kernel.range(functions.firstKey.value, functions.firstLength.value)),
      largest: Buffer.from(kernel.range(functions.lastKey.value, functions.lastLength.value)),
      smallestSequence,
      largestSequence,
      entries,
      tombstones,
      rawBytes
    }
  }
}
