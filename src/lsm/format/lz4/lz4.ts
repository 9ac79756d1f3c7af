/**
 * LZ4 in WebAssembly, one instance and one fixed memory per thread.
 *
 * Input and output are copied through that memory, which costs about a tenth of the work; nothing of it survives a call.
 * Who is in a hurry reads compressed bytes straight into the memory, and uses the raw ones where they lie in it.
 */
import { type WasmMemory, webAssembly } from '../../../bloom/kernels/web-assembly.ts'
import { notSupported } from '../../errors.ts'
import { lz4Base64 } from './lz4.generated.ts'

interface Lz4Functions {
  /** Compresses the input area's first `length` bytes to the output area; 0 when they become more than `limit`. */
  compress(length: number, limit: number): number
  /** Decompresses `length` bytes from `start` on to the output area; 0 when these are not exactly `rawLength`, else 1. */
  decompress(start: number, length: number, rawLength: number): number
}

/** Places in the memory: see assembly/index.ts. */
const input = 0x10000
const output = 0x60000
const memoryPages = 11
/** Bytes that may be read into the input area. */
const maxInputBytes = output - input - 32

/** Bytes that are compressed at a time: more are cut into chunks of this size. */
export const chunkBytes = 0x40000
/** The largest compressed chunk. */
const maxCompressedBytes = chunkBytes + Math.ceil(chunkBytes / 255) + 16

interface Lz4 {
  readonly functions: Lz4Functions
  readonly memory: Buffer
  /** The output area. */
  readonly raw: RawBytes
}

let instance: Lz4 | undefined
let uses = 0
/** What inputRoom() gave last. */
let room: Buffer | undefined

/** Grows with every call that writes to the kernel's memory: as long as it stays, what is there stays. */
export function memoryUses(): number {
  return uses
}

/**
 * Compresses source[start, end).
 * REQUIRES: at most chunkBytes.
 * @returns a view of the kernel's memory, valid until the next call; undefined when it would be more than `limit` bytes
 */
export function compressChunk(source: Uint8Array, start: number, end: number, limit: number): Buffer | undefined {
  const { functions, memory } = lz4()
  uses++
  memory.set(source.subarray(start, end), input)
  const bytes = functions.compress(end - start, limit)
  return bytes === 0 ? undefined : memory.subarray(output, output + bytes)
}

/**
 * Room for so many bytes of input in the kernel's memory: what is decompressed from this buffer is not copied first. The
 * bytes stay until the next call of any other function here but decompression from this buffer.
 * @returns undefined when there is no such room
 */
export function inputRoom(bytes: number): Buffer | undefined {
  uses++
  room = bytes <= maxInputBytes ? lz4().memory.subarray(input, input + bytes) : undefined
  return room
}

/** Raw bytes where they lie, until the next call. */
export interface RawBytes {
  readonly bytes: Buffer
  readonly start: number
}

/**
 * Decompresses source[start, end) to exactly `rawBytes` bytes, at most chunkBytes, in the kernel's memory.
 * @returns undefined when the bytes are not the compressed form of exactly so many
 */
export function decompressInPlace(
  source: Uint8Array,
  start: number,
  end: number,
  rawBytes: number
): RawBytes | undefined {
  if (end - start > maxCompressedBytes) return undefined
  const { functions, memory, raw } = lz4()
  uses++
  const isThere = source === room
  if (!isThere) memory.set(source.subarray(start, end), input)
  const from = isThere ? input + start : input
  return functions.decompress(from, end - start, rawBytes) === 0 ? undefined : raw
}

/**
 * Decompresses source[start, end) into target[targetStart, targetEnd).
 * REQUIRES: at most chunkBytes there.
 * @returns false when the bytes are not the compressed form of exactly so many; the target is then unchanged
 */
export function decompressChunk(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number
): boolean {
  const rawBytes = targetEnd - targetStart
  const raw = decompressInPlace(source, start, end, rawBytes)
  if (raw === undefined) return false
  target.set(raw.bytes.subarray(raw.start, raw.start + rawBytes), targetStart)
  return true
}

/** @throws LEVEL_NOT_SUPPORTED without WebAssembly SIMD */
function lz4(): Lz4 {
  instance ??= instantiate()
  return instance
}

/** Synchronous: the module is two kilobytes. */
function instantiate(): Lz4 {
  if (webAssembly === undefined) throw notSupported('LZ4 needs WebAssembly')
  const code = Buffer.from(lz4Base64, 'base64')
  if (!webAssembly.validate(code)) throw notSupported('LZ4 needs WebAssembly with 128-bit SIMD')
  const memory: WasmMemory = new webAssembly.Memory({ initial: memoryPages, maximum: memoryPages })
  const { exports } = new webAssembly.Instance(new webAssembly.Module(code), { env: { memory } })
  const bytes = Buffer.from(memory.buffer)
  return { functions: exports as Lz4Functions, memory: bytes, raw: { bytes, start: output } }
}
