/**
 * The memory that rows live in: one fixed WebAssembly memory, cut into frames of 8 KiB and a scratch area.
 *
 * | from        | what                                                     |
 * | ----------- | -------------------------------------------------------- |
 * | 0           | the kernels' own workspace; no address here is handed out |
 * | 64 KiB      | scratch, 1 MiB                                           |
 * | then        | frames, FRAME_STRIDE apart                               |
 *
 * Invariants:
 * 1. The memory is allocated at its maximum and never grows, so no view of it ever detaches. Untouched pages cost
 *    address space only.
 * 2. Frames are 64-aligned and 8,256 bytes apart: with a power of two between rows, one column of many rows
 *    would fall into the same few cache sets.
 * 3. A frame's contents are undefined when it is allocated, but for allocateZeroed(); frames never allocated are zero.
 * 4. No other thread has the memory, although it is of the shared kind: V8 counts other memories as garbage to come, at
 *    their full size, and would begin to mark the application's whole heap when one is made.
 * 5. Scratch belongs to one synchronous computation at a time; nothing in it survives an `await`.
 */
import { PetalError } from '../../model/errors.ts'
import { type SharedWasmMemory, webAssembly } from '../../model/web-assembly.ts'
import { instantiateKernels, unavailable } from './instantiate.ts'
import type { Kernels } from './kernels.ts'

/** Bytes of a frame: one row of 65,536 bits. */
export const FRAME_BYTES = 8192
const FRAME_STRIDE = FRAME_BYTES + 64

const PAGE_BYTES = 65_536
const SCRATCH_BASE = PAGE_BYTES
const SCRATCH_END = SCRATCH_BASE + (1 << 20)

const defaultBytes = 512 << 20

/** An owner of frames that it can give up when others need them. */
export interface FrameHolder {
  readonly heldFrames: number
  /** Frees some of them, if possible. */
  shed(): void
}

/**
 * @example
 * const memory = rowMemory()
 * const row = memory.allocate()
 * memory.kernels.fill(row, 0, FRAME_BYTES)
 * memory.u8[row] = 0b101
 * memory.kernels.popcount(row, FRAME_BYTES) // 2
 * memory.free(row)
 */
export class RowMemory {
  readonly kernels: Kernels
  readonly u8: Uint8Array<SharedArrayBuffer>
  readonly u16: Uint16Array<SharedArrayBuffer>
  readonly u32: Uint32Array<SharedArrayBuffer>
  readonly f64: Float64Array<SharedArrayBuffer>
  /** Frames in all. */
  readonly frames: number

  /** 1 for an allocated frame: freeing it twice would give one row to two owners. */
  readonly #taken: Uint8Array
  /** Freed frames, as a stack: the last one freed is the likeliest to be cached. */
  readonly #freed: Uint32Array
  #freedCount = 0
  /** Frames from here on were never allocated. */
  #untouched = 0
  #scratch = SCRATCH_BASE
  readonly #holders = new Set<FrameHolder>()

  /**
   * @param bytes size of the memory, rounded up to 64 KiB, at most 4 GiB
   * @throws PetalError KernelsUnavailable, or ExceededMemoryLimit if that much address space is not available
   */
  constructor(bytes: number = defaultBytes) {
    const pages = Math.max(Math.ceil(bytes / PAGE_BYTES), Math.ceil((SCRATCH_END + FRAME_STRIDE) / PAGE_BYTES))
    const memory = reserve(pages)
    this.kernels = instantiateKernels(memory)
    this.u8 = new Uint8Array(memory.buffer)
    this.u16 = new Uint16Array(memory.buffer)
    this.u32 = new Uint32Array(memory.buffer)
    this.f64 = new Float64Array(memory.buffer)
    this.frames = Math.floor((memory.buffer.byteLength - SCRATCH_END) / FRAME_STRIDE)
    this.#taken = new Uint8Array(this.frames)
    this.#freed = new Uint32Array(this.frames)
  }

  /** Number of frames that allocate() can still return. */
  get freeFrames(): number {
    return this.frames - this.#untouched + this.#freedCount
  }

  /** freeFrames, plus those that holders can give up. */
  get availableFrames(): number {
    let frames = this.freeFrames
    for (const { heldFrames } of this.#holders) frames += heldFrames
    return frames
  }

  /** Registers a holder, which is asked to give up frames when none is free. */
  addHolder(holder: FrameHolder): void {
    this.#holders.add(holder)
  }

  removeHolder(holder: FrameHolder): void {
    this.#holders.delete(holder)
  }

  /**
   * Returns the address of a frame of FRAME_BYTES with undefined contents.
   * @throws PetalError ExceededMemoryLimit if every frame is taken
   */
  allocate(): number {
    if (!this.#hasFree(1)) throw this.#exhausted()
    const frame = this.#freedCount > 0 ? (this.#freed[--this.#freedCount] as number) : this.#untouched++
    this.#taken[frame] = 1
    return SCRATCH_END + frame * FRAME_STRIDE
  }

  /**
   * Returns the addresses of `count` frames of zeros.
   * @throws PetalError ExceededMemoryLimit if there are not as many; then none is taken
   */
  allocateZeroed(count: number): Uint32Array {
    if (!this.#hasFree(count)) throw this.#exhausted()
    return Uint32Array.from({ length: count }, () => {
      // Clearing a frame that was never written would make the system provide its pages.
      const isZero = this.#freedCount === 0
      const address = this.allocate()
      if (!isZero) this.kernels.fill(address, 0, FRAME_BYTES)
      return address
    })
  }

  /** Frees a frame. @throws PetalError InternalError for an address that is not an allocated frame's */
  free(address: number): void {
    const frame = (address - SCRATCH_END) / FRAME_STRIDE
    if (this.#taken[frame] !== 1) {
      throw new PetalError('InternalError', `Row memory: ${address} is not the address of a frame in use`)
    }
    this.#taken[frame] = 0
    this.#freed[this.#freedCount++] = frame
  }

  #hasFree(count: number): boolean {
    return this.freeFrames >= count || this.#reclaim(count)
  }

  /** Makes holders give up frames until `count` are free. */
  #reclaim(count: number): boolean {
    for (const holder of this.#holders) {
      let before = -1
      while (this.freeFrames < count && this.freeFrames !== before) {
        before = this.freeFrames
        holder.shed()
      }
    }
    return this.freeFrames >= count
  }

  #exhausted(): PetalError {
    return new PetalError(
      'ExceededMemoryLimit',
      `All ${this.frames} frames of row memory (${FRAME_BYTES} bytes each) are in use`,
      { details: { frames: this.frames, frameBytes: FRAME_BYTES } }
    )
  }

  /**
   * First free byte of scratch, 16-aligned: everything from here to scratchEnd may be used by anyone until the next
   * push.
   */
  get scratch(): number {
    return this.#scratch
  }

  readonly scratchEnd = SCRATCH_END

  /**
   * Reserves bytes of the scratch area for the duration of a computation; `pop` releases them.
   * @returns their address, 16-aligned
   * @throws PetalError ExceededMemoryLimit if they do not fit
   */
  push(bytes: number): number {
    const address = this.#scratch
    const next = address + ((bytes + 15) & ~15)
    if (next > SCRATCH_END) {
      throw new PetalError('ExceededMemoryLimit', `${bytes} bytes do not fit in the scratch area of row memory`, {
        details: { bytes, available: SCRATCH_END - address }
      })
    }
    this.#scratch = next
    return address
  }

  /** Releases the area pushed at `address`, and everything pushed since. */
  pop(address: number): void {
    if (address < SCRATCH_BASE || address > this.#scratch) {
      throw new PetalError('InternalError', `Row memory: ${address} is not the address of a scratch area in use`)
    }
    this.#scratch = address
  }
}

function reserve(pages: number): SharedWasmMemory {
  if (webAssembly === undefined) throw unavailable('this JavaScript runtime has no WebAssembly')
  try {
    return new webAssembly.Memory({ initial: pages, maximum: pages, shared: true })
  } catch (cause) {
    throw new PetalError('ExceededMemoryLimit', `Cannot reserve ${pages * PAGE_BYTES} bytes of row memory`, { cause })
  }
}

let shared: RowMemory | undefined

/** The row memory of this thread, created on first use. */
export function rowMemory(): RowMemory {
  shared ??= new RowMemory()
  return shared
}
