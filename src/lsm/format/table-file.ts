/**
 * A table's file: its footer, index and sections, and reading, checking and decompressing its blocks.
 *
 * Opening takes one pread for a table whose end fits into tailBytes; a block takes one pread.
 */
import { corruption, ioError } from '../errors.ts'
import { closeQuietly } from '../fs/close-quietly.ts'
import type { OpenFile } from '../fs/file-system.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { Block } from './block.ts'
import { BlockIndex } from './block-index.ts'
import {
  Codec,
  checkTrailer,
  DecompressionSpace,
  decompressInto,
  decompressShared,
  rawBytesOf,
  trailerBytes
} from './codec.ts'
import { footerBytes, type Handle, readFooter } from './footer.ts'
import { inputBuffer, memoryGeneration } from './lz4/lz4.ts'
import { readMetaindex } from './metaindex.ts'
import { Scratch } from './scratch.ts'

/** Bytes read at once when a table is opened. */
const tailBytes = 16_384

/** Larger blocks are not copied. */
const maxCopiedBytes = 65_536
const scratch = new Scratch()
/** For large blocks that are not retained. */
const scratchSpace = new DecompressionSpace(0)

/** The block that readSharedBlock() read last; valid as long as LZ4's memory has not been reused. */
interface SharedBlock {
  file: TableFile | undefined
  index: number
  block: Block | undefined
  generation: number
}
const sharedBlock: SharedBlock = { file: undefined, index: -1, block: undefined, generation: -1 }

/** The end of a file, in memory. */
interface Tail {
  readonly bytes: Buffer
  readonly offset: number
}

export class TableFile {
  readonly path: string
  readonly number: number
  readonly bytes: number
  readonly index: BlockIndex
  readonly #file: OpenFile
  readonly #sections: ReadonlyMap<string, Handle>
  /**
   * Whether the last block read was compressed. If so, the next one probably is: it is read directly into LZ4's
   * memory.
   */
  #wasCompressed = false

  private constructor(file: OpenFile, number: number, bytes: number, index: BlockIndex, sections: Map<string, Handle>) {
    this.#file = file
    this.path = file.path
    this.number = number
    this.bytes = bytes
    this.index = index
    this.#sections = sections
  }

  /** @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR, LEVEL_NOT_SUPPORTED */
  static open(file: OpenFile, meta: Pick<TableMeta, 'number' | 'bytes'>): JustOpened {
    const { path } = file
    const { number, bytes } = meta
    if (bytes < footerBytes) throw corruption(`a file of ${bytes} bytes is too short for a table`, { path })
    const tail = readTail(file, bytes)
    const footer = readFooter(tail.bytes.subarray(tail.bytes.length - footerBytes), path, bytes - footerBytes)
    if (footer.number !== number) throw corruption(`this is table ${footer.number}, not ${number}`, { path })
    const read = (handle: Handle) => readPayload(file, number, bytes, handle, tail)
    const sections = readMetaindex(read(footer.metaindex), { path, offset: footer.metaindex.offset })
    const index = new BlockIndex(read(footer.index), { path, offset: footer.index.offset })
    if (index.dataBytes > footer.metaindex.offset)
      throw corruption('blocks extend beyond the end of the table', { path })
    return {
      file: new TableFile(file, number, bytes, index, sections),
      section: (name) => {
        const handle = sections.get(name)
        return handle && read(handle)
      }
    }
  }

  get sectionNames(): string[] {
    return [...this.#sections.keys()]
  }

  /** The bytes of a section; undefined if there is none with this name. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  section(name: string): Buffer | undefined {
    const handle = this.#sections.get(name)
    return handle && readPayload(this.#file, this.number, this.bytes, handle)
  }

  /** Reads data block `index` into a buffer of its own. @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  readBlock(index: number): Block {
    const bytes = this.index.payloadBytes(index) + trailerBytes
    if (bytes <= maxCopiedBytes) return this.readSharedBlock(index).copy()
    const framed = Buffer.allocUnsafeSlow(bytes)
    this.read(framed, this.index.offset(index))
    return this.decodeBlock(framed, 0, index, new DecompressionSpace(0))
  }

  /**
   * Reads data block `index` into a shared buffer: valid until the next call of anything that reads or decompresses,
   * for any table of any store. Reading the same block again costs nothing.
   * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  readSharedBlock(index: number): Block {
    if (
      sharedBlock.file === this &&
      sharedBlock.index === index &&
      sharedBlock.generation === memoryGeneration() &&
      sharedBlock.block !== undefined
    ) {
      return sharedBlock.block
    }
    invalidateSharedBlock()
    const bytes = this.index.payloadBytes(index) + trailerBytes
    const framed = (this.#wasCompressed ? inputBuffer(bytes) : undefined) ?? scratch.take(bytes)
    this.read(framed, this.index.offset(index))
    const block = this.decodeBlock(framed, 0, index, undefined)
    this.#wasCompressed = block.bytes !== framed
    sharedBlock.file = this
    sharedBlock.index = index
    sharedBlock.block = block
    sharedBlock.generation = memoryGeneration()
    return block
  }

  /**
   * Decodes data block `index`, whose payload begins at bytes[start]: in place if it is not compressed.
   * @param space receives decompressed bytes; undefined: a shared buffer, valid until the next call
   * @throws LEVEL_CORRUPTION
   */
  decodeBlock(bytes: Buffer, start: number, index: number, space: DecompressionSpace | undefined): Block {
    const { path } = this
    const offset = this.index.offset(index)
    const end = start + this.index.payloadBytes(index)
    const codec = checkTrailer(bytes, start, end, this.number, path, offset)
    if (codec === Codec.none) return new Block(bytes, start, end, path, offset)
    const place = { path, offset }
    const rawBytes = rawBytesOf(codec, bytes, start, end, place)
    const raw = space === undefined ? decompressShared(bytes, start, end, rawBytes, place) : undefined
    if (raw !== undefined) return new Block(raw.bytes, raw.start, raw.start + rawBytes, path, offset)
    const target = space ?? scratchSpace.restart()
    target.reserve(rawBytes)
    const rawStart = target.start
    decompressInto(bytes, start, end, target.bytes, rawStart, rawBytes, place)
    target.start += rawBytes
    return new Block(target.bytes, rawStart, rawStart + rawBytes, path, offset)
  }

  /** Fills `target` from file offset `offset`. @throws LEVEL_CORRUPTION if the file is too short, LEVEL_IO_ERROR */
  read(target: Uint8Array, offset: number): void {
    readFully(this.#file, target, offset)
  }

  /** Prefetches data block `index` into the system's page cache. */
  prepareBlock(index: number): Promise<void> {
    return this.#file.prepareRead(this.index.offset(index), this.index.payloadBytes(index) + trailerBytes)
  }

  close(): void {
    if (sharedBlock.file === this) invalidateSharedBlock()
    closeQuietly(this.#file)
  }
}

/** A table whose end is still in memory: reading sections there costs no I/O. */
export interface JustOpened {
  readonly file: TableFile
  section(name: string): Buffer | undefined
}

function invalidateSharedBlock(): void {
  sharedBlock.file = undefined
  sharedBlock.block = undefined
}

function readTail(file: OpenFile, bytes: number): Tail {
  const offset = Math.max(0, bytes - tailBytes)
  const target = Buffer.allocUnsafeSlow(bytes - offset)
  readFully(file, target, offset)
  return { bytes: target, offset }
}

/** Reads a payload into a buffer of its own. */
function readPayload(file: OpenFile, number: number, fileBytes: number, handle: Handle, tail?: Tail): Buffer {
  const { offset, payloadBytes } = handle
  const place = { path: file.path, offset }
  const framedBytes = payloadBytes + trailerBytes
  if (offset + framedBytes > fileBytes - footerBytes)
    throw corruption('a block extends beyond the end of the table', place)
  const framed = Buffer.allocUnsafeSlow(framedBytes)
  if (tail !== undefined && offset >= tail.offset) {
    tail.bytes.copy(framed, 0, offset - tail.offset, offset - tail.offset + framedBytes)
  } else {
    readFully(file, framed, offset)
  }
  const codec = checkTrailer(framed, 0, payloadBytes, number, file.path, offset)
  if (codec === Codec.none) return framed.subarray(0, payloadBytes)
  const raw = Buffer.allocUnsafeSlow(rawBytesOf(codec, framed, 0, payloadBytes, place))
  decompressInto(framed, 0, payloadBytes, raw, 0, raw.length, place)
  return raw
}

function readFully(file: OpenFile, target: Uint8Array, offset: number): void {
  const place = { path: file.path, offset }
  let found: number
  try {
    found = file.read(target, offset)
  } catch (cause) {
    throw ioError(`Cannot read ${file.path}`, cause, place)
  }
  if (found !== target.length) {
    throw corruption(`expected ${target.length} bytes, got ${found}`, place)
  }
}
