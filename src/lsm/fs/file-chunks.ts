/**
 * Reads a file of the user's from start to end, in chunks whose memory can be used again. A stream of Node's makes a
 * buffer for every chunk: V8 counts them, and collects the whole heap dozens of times in a gigabyte.
 *
 * Invariants:
 * 1. A chunk does not change before recycle() is called with it. Memory that is not given back is not used again.
 * 2. At most one chunk is read ahead, and only of a regular file: closing waits for a read, which may never
 *    end in a pipe.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { systemError } from './system-error.ts'

/** Smaller chunks take longer by the number of turns through the thread pool; larger ones are no faster. */
const chunkBytes = 256 * 1024
/** One to be read into while the other is used. */
const maxFree = 2

export class FileChunks implements AsyncIterable<Uint8Array> {
  /** Undefined if it is not known, as that of a pipe. */
  readonly size: number | undefined
  readonly #file: FileHandle
  readonly #free: Buffer[] = []
  /** Memory of chunks that may be given back. */
  readonly #lent = new WeakSet<ArrayBufferLike>()
  #isClosed = false

  private constructor(file: FileHandle, size: number | undefined) {
    this.#file = file
    this.size = size
  }

  /** @throws Node's errors: ENOENT, EACCES, EISDIR, … */
  static async open(path: string | URL): Promise<FileChunks> {
    const file = await open(path, 'r')
    try {
      const entry = await file.stat()
      if (entry.isDirectory()) throw systemError('EISDIR', 'read', String(path))
      return new FileChunks(file, entry.isFile() ? entry.size : undefined)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** Can be iterated once; the file is closed at the end. @throws Node's errors */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      let next: Promise<Uint8Array> | undefined
      for (;;) {
        const chunk = await (next ?? this.#read())
        if (chunk.length === 0 || this.#isClosed) return
        next = this.size === undefined ? undefined : this.#read()
        // Until it is awaited.
        next?.catch(() => {})
        yield chunk
      }
    } finally {
      await this.close()
    }
  }

  /** Lets the memory of a chunk be used again. Does nothing for bytes that are not one of its chunks. */
  recycle(chunk: Uint8Array): void {
    if (!this.#lent.delete(chunk.buffer) || this.#free.length === maxFree) return
    this.#free.push(Buffer.from(chunk.buffer))
  }

  /** Ends the iteration. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#file.close()
  }

  /** @returns no bytes at the end */
  async #read(): Promise<Uint8Array> {
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(chunkBytes)
    const { bytesRead } = await this.#file.read(buffer, 0, chunkBytes, null)
    this.#lent.add(buffer.buffer)
    return buffer.subarray(0, bytesRead)
  }
}
