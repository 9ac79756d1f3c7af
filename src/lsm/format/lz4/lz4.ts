/**
 * LZ4 in WebAssembly, one instance and one fixed memory per thread.
 *
 * Input and output are copied through that memory, which costs about a tenth of the work; nothing of it survives a call.
 */
import { type WasmMemory, webAssembly } from '../../../bloom/kernels/web-assembly.ts'
import { notSupported } from '../../errors.ts'
import { lz4Base64 } from './lz4.generated.ts'

interface Lz4Functions {
  /** Compresses the input area's first `length` bytes to the output area; 0 when they become more than `limit`. */
  compress(length: number, limit: number): number
  /** Decompresses the input area's first `length` bytes; 0 when that does not give exactly `rawLength`, else 1. */
  decompress(length: number, rawLength: number): number
}

/** Places in the memory: see assembly/index.ts. */
const input = 0x10000
const output = 0x60000
const memoryPages = 11

/** Bytes that are compressed at a time: more are cut into chunks of this size. */
export const chunkBytes = 0x40000
/** The largest compressed chunk. */
const maxCompressedBytes = chunkBytes + Math.ceil(chunkBytes / 255) + 16

interface Lz4 {
  readonly functions: Lz4Functions
  readonly memory: Buffer
}

let instance: Lz4 | undefined

/**
 * Compresses source[start, end).
 * REQUIRES: at most chunkBytes.
 * @returns a view of the kernel's memory, valid until the next call; undefined when it would be more than `limit` bytes
 */
export function compressChunk(source: Uint8Array, start: number, end: number, limit: number): Buffer | undefined {
  const { functions, memory } = lz4()
  memory.set(source.subarray(start, end), input)
  const bytes = functions.compress(end - start, limit)
  return bytes === 0 ? undefined : memory.subarray(output, output + bytes)
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
  if (end - start > maxCompressedBytes) return false
  const { functions, memory } = lz4()
  memory.set(source.subarray(start, end), input)
  const rawBytes = targetEnd - targetStart
  if (functions.decompress(end - start, rawBytes) === 0) return false
  target.set(memory.subarray(output, output + rawBytes), targetStart)
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
  const bytes = Buffer.from(lz4Base64, 'base64')
  if (!webAssembly.validate(bytes)) throw notSupported('LZ4 needs WebAssembly with 128-bit SIMD')
  const memory: WasmMemory = new webAssembly.Memory({ initial: memoryPages, maximum: memoryPages })
  const { exports } = new webAssembly.Instance(new webAssembly.Module(bytes), { env: { memory } })
  return { functions: exports as Lz4Functions, memory: Buffer.from(memory.buffer) }
}
