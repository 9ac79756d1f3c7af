/** Writes the part of a table after its data blocks: sections, key filter, properties, metaindex, index, footer. */
import type { BlockCompressor } from './block-compressor.ts'
import { Codec, trailerBytes, writeTrailer } from './codec.ts'
import { footerBytes, type Handle, writeFooter } from './footer.ts'
import { keyFilterName, propertiesName, writeMetaindex } from './metaindex.ts'
import { type TableProperties, writeProperties } from './properties.ts'
import type { Section } from './section-collector.ts'
import type { TableOutput } from './table-output.ts'

export interface TableEnd {
  /** Sections of the collector. */
  readonly sections: readonly Section[]
  readonly filter: Uint8Array | undefined
  readonly properties: TableProperties
  /** From BlockIndexBuilder.finish(). */
  readonly index: Uint8Array
}

/**
 * Writes the end of a table and closes the output.
 * @param output with all data blocks complete
 * @param number of the file
 * @throws LEVEL_IO_ERROR
 */
export function writeTableEnd(output: TableOutput, compressor: BlockCompressor, number: number, end: TableEnd): void {
  const write = (bytes: Uint8Array): Handle => {
    const { offset, length: start } = output
    output.append(bytes)
    return { offset, payloadBytes: sealBlock(output, compressor, number, start).payloadBytes }
  }
  const sections = new Map<string, Handle>()
  for (const { name, bytes } of end.sections) sections.set(name, write(bytes))
  if (end.filter !== undefined) sections.set(keyFilterName, write(end.filter))
  sections.set(propertiesName, write(writeProperties(end.properties)))
  const metaindex = write(writeMetaindex(sections))
  const index = write(end.index)
  output.reserve(footerBytes)
  writeFooter(output.bytes, output.length, { metaindex, index, number })
  output.length += footerBytes
  output.close()
}

/** Compresses the payload from `start` to the output's end, if that pays, and appends the trailer. */
export function sealBlock(
  output: TableOutput,
  compressor: BlockCompressor,
  number: number,
  start: number
): { readonly payloadBytes: number; readonly codec: number } {
  const fileOffset = output.offset - (output.length - start)
  output.reserve(trailerBytes)
  const compressedEnd = compressor.compress(output.bytes, start, output.length)
  const codec = compressedEnd === undefined ? Codec.none : Codec.lz4
  const end = compressedEnd ?? output.length
  output.length = writeTrailer(output.bytes, start, end, codec, number, fileOffset)
  return { payloadBytes: end - start, codec }
}
