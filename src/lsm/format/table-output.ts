/** Buffers the bytes of a table and writes them in pieces of about 256 KiB. */
import { ioError } from '../errors.ts'
import type { OpenFile } from '../fs/file-system.ts'

const writeBytes = 262_144
const usualBytes = writeBytes + 65_536

/** Buffer of the last closed output, kept for the thread's next one. */
let idle: Buffer | undefined

export class TableOutput {
  /** Bytes not written yet; those from `length` on are free. Replaced by reserve(). */
  bytes: Buffer = takeBytes()
  /** Number of buffered bytes. */
  length = 0
  readonly #file: OpenFile
  #writtenBytes = 0

  constructor(file: OpenFile) {
    this.#file = file
  }

  /** File offset of the next byte. */
  get offset(): number {
    return this.#writtenBytes + this.length
  }

  get path(): string {
    return this.#file.path
  }

  /** Ensures room for this many bytes after `length`. */
  reserve(bytes: number): void {
    if (this.length + bytes <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + bytes))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** Writes bytes from elsewhere, bypassing the buffer. REQUIRES: the buffer is empty. @throws LEVEL_IO_ERROR */
  writeThrough(bytes: Uint8Array): void {
    this.#write(bytes)
  }

  /** Writes the buffer if it is worth a call. REQUIRES: nobody relies on offsets in `bytes`. @throws LEVEL_IO_ERROR */
  writeWhenFull(): void {
    if (this.length >= writeBytes) this.writeAll()
  }

  /** @throws LEVEL_IO_ERROR */
  writeAll(): void {
    if (this.length === 0) return
    this.#write(this.bytes.subarray(0, this.length))
    this.length = 0
  }

  /** Writes the rest and releases the buffer. REQUIRES: nothing is added afterwards. @throws LEVEL_IO_ERROR */
  close(): void {
    this.writeAll()
    if (this.bytes.length === usualBytes) idle = this.bytes
    this.bytes = nothing
  }

  #write(bytes: Uint8Array): void {
    try {
      this.#file.write(bytes, this.#writtenBytes)
    } catch (cause) {
      throw ioError(`Cannot write ${this.path}`, cause, { path: this.path, offset: this.#writtenBytes })
    }
    this.#writtenBytes += bytes.length
  }
}

const nothing = Buffer.alloc(0)

function takeBytes(): Buffer {
  const bytes = idle ?? Buffer.allocUnsafeSlow(usualBytes)
  idle = undefined
  return bytes
}
