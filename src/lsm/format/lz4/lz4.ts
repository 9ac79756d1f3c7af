/**
 * LZ4 in WebAssembly, with one instance and one fixed memory per thread.
 *
 * Input and output are copied through that memory, which costs about a tenth of the work; no call depends on earlier
 * contents. To avoid the copies, read compressed bytes directly into the memory and use the raw bytes in place.
 */
import { compileModule, type WasmMemory, webAssembly } from '../../../model/web-assembly.ts'
import { notSupported } from '../../errors.ts'
import { lz4Base64 } from './lz4.generated.ts'

interface Lz4Functions {
  /** Compresses the first `length` bytes of the input area to `target`; returns 0 if they exceed `limit`. */
  compress(length: number, limit: number, target: number): number
  /**
   * Decompresses `length` bytes at `start` to the output area; returns 1, or 0 unless that yields exactly `rawLength`.
   */
  decompress(start: number, length: number, rawLength: number): number
}

/** Offsets in the memory: see assembly/index.ts. */
const input = 0x10000
const output = 0x60000
const memoryPages = 11
/** Maximum number of bytes that can be read into the input area. */
const maxInputBytes = output - input - 32

/** Chunk size: longer input is split into chunks. */
export const chunkBytes = 0x40000
/** Upper bound on the size of a compressed chunk. */
export const maxCompressedBytes = chunkBytes + Math.ceil(chunkBytes / 255) + 16

interface Lz4 {
  readonly functions: Lz4Functions
  readonly memory: Buffer
  /** The output area. */
  readonly raw: RawBytes
}

let instance: Lz4 | undefined
let generation = 0
/** The buffer that inputBuffer() returned last. */
let lastInput: Buffer | undefined

/** Incremented by every call that writes to the kernel's memory: while it is unchanged, so are the contents. */
export function memoryGeneration(): number {
  return generation
}

/**
 * Compresses source[start, end).
 * REQUIRES: at most chunkBytes.
 * @returns a view of the kernel's memory, valid until the next call; undefined if it would exceed `limit` bytes
 */
export function compressChunk(source: Uint8Array, start: number, end: number, limit: number): Buffer | undefined {
  const { functions, memory } = lz4()
  generation++
  memory.set(source.subarray(start, end), input)
  const bytes = functions.compress(end - start, limit, output)
  return bytes === 0 ? undefined : memory.subarray(output, output + bytes)
}

/**
 * Input space in the kernel's memory: decompressing from this buffer needs no copy. The bytes stay until the next call
 * of any other function here except decompression from this buffer.
 * @returns undefined if `bytes` exceed the input area
 */
export function inputBuffer(bytes: number): Buffer | undefined {
  generation++
  lastInput = bytes <= maxInputBytes ? lz4().memory.subarray(input, input + bytes) : undefined
  return lastInput
}

/** Raw bytes in the kernel's memory, valid until the next call. */
export interface RawBytes {
  readonly bytes: Buffer
  readonly start: number
}

/**
 * Decompresses source[start, end) to exactly `rawBytes` bytes, at most chunkBytes, in the kernel's memory.
 * @returns undefined unless the input is valid and has exactly this raw size
 */
export function decompressInPlace(
  source: Uint8Array,
  start: number,
  end: number,
  rawBytes: number
): RawBytes | undefined {
  if (end - start > maxCompressedBytes) return undefined
  const { functions, memory, raw } = lz4()
  generation++
  const isThere = source === lastInput
  if (!isThere) memory.set(source.subarray(start, end), input)
  const from = isThere ? input + start : input
  return functions.decompress(from, end - start, rawBytes) === 0 ? undefined : raw
}

/**
 * Decompresses source[start, end) into target[targetStart, targetEnd).
 * REQUIRES: a target of at most chunkBytes.
 * @returns false, leaving the target unchanged, unless the input is valid and has exactly this raw size
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

/** Compiles the kernel, which the first call of another function here does otherwise. */
export function prepareKernel(): void {
  try {
    lz4()
  } catch {
    // Whoever needs it will be told.
  }
}

/** @throws LEVEL_NOT_SUPPORTED without WebAssembly SIMD */
function lz4(): Lz4 {
  instance ??= instantiate()
  return instance
}

function instantiate(): Lz4 {
  if (webAssembly === undefined) throw notSupported('LZ4 needs WebAssembly')
  const module = compileModule(lz4Base64)
  if (module === undefined) throw notSupported('LZ4 needs WebAssembly with 128-bit SIMD')
  const memory: WasmMemory = new webAssembly.Memory({ initial: memoryPages, maximum: memoryPages })
  const { exports } = new webAssembly.Instance(module, { env: { memory } })
  const bytes = Buffer.from(memory.buffer)
  return { functions: exports as Lz4Functions, memory: bytes, raw: { bytes, start: output } }
}
