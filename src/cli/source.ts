/** The source of an import: a file or standard input, gzip-compressed or not, as detected from its first bytes. */
import { open } from 'node:fs/promises'
import { FileChunks, isGzip } from '../docstore/import/line-source.ts'
import { PetalError } from '../model/errors.ts'
import { FileError } from './errors.ts'
import { gunzip } from './gzip.ts'

const magicBytes = 3

/** Size as stored, and decompressed. */
interface SourceSizes {
  readonly total: number | undefined
  readonly content: number | undefined
}

const unknownSizes: SourceSizes = { total: undefined, content: undefined }

export class Source {
  /** For messages. */
  readonly name: string
  /** Size of the file as stored; undefined if unknown. */
  readonly totalBytes: number | undefined
  /** Size of the content that chunks() yields; undefined if unknown. */
  readonly contentBytes: number | undefined
  readonly #input: FileChunks | typeof process.stdin
  readonly #signal: AbortSignal
  #bytesRead = 0

  private constructor(name: string, sizes: SourceSizes, input: FileChunks | typeof process.stdin, signal: AbortSignal) {
    this.name = name
    this.totalBytes = sizes.total
    this.contentBytes = sizes.content
    this.#input = input
    this.#signal = signal
  }

  /**
   * @param path of a file, or `-` for standard input
   * @param signal ends the stream early, without an error
   * @throws PetalError for a file that cannot be read
   */
  static async open(path: string, signal: AbortSignal): Promise<Source> {
    if (path === '-') return new Source('stdin', unknownSizes, process.stdin, signal)
    try {
      const input = await FileChunks.open(path)
      const sizes = input.size === undefined ? unknownSizes : await sizesOf(path, input.size)
      return new Source(path, sizes, input, signal)
    } catch (error) {
      throw new FileError('read', path, error)
    }
  }

  /** Bytes read from the file so far, before decompression. */
  get bytesRead(): number {
    return this.#bytesRead
  }

  [Symbol.dispose](): void {
    if (this.#input instanceof FileChunks) this.#input.close().catch(() => {})
    else this.#input.destroy()
  }

  /** Takes back a chunk of the content, unless it is of another memory than the file's chunks. */
  recycle(chunk: Uint8Array): void {
    if (this.#input instanceof FileChunks) this.#input.recycle(chunk)
  }

  /**
   * Yields the decompressed content.
   * @throws FileError if the file cannot be read any further, with the offset of an error in its compressed data
   */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const stop = (): void => this[Symbol.dispose]()
    this.#signal.addEventListener('abort', stop)
    try {
      const raw = this.#raw()
      const first = await readAtLeast(magicBytes, raw)
      refuseUtf16(this.name, first)
      const whole = prepend(first, raw)
      yield* isGzip(first) ? gunzip(whole) : whole
    } catch (error) {
      if (this.#signal.aborted) return
      throw error instanceof PetalError ? error : new FileError('read', this.name, error)
    } finally {
      this.#signal.removeEventListener('abort', stop)
      stop()
    }
  }

  /** Yields the non-empty lines of the content with their numbers, from 1. @throws as chunks() */
  async *lines(): AsyncGenerator<{ readonly line: string; readonly number: number }, void, undefined> {
    const decoder = new TextDecoder()
    let rest = ''
    let number = 0
    for await (const chunk of this.chunks()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        number++
        if (line.trim() !== '') yield { line, number }
      }
    }
    const line = rest + decoder.decode()
    if (line.trim() !== '') yield { line, number: number + 1 }
  }

  async *#raw(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of this.#input) {
      this.#bytesRead += (chunk as Uint8Array).length
      yield chunk as Uint8Array
    }
  }
}

async function readAtLeast(count: number, chunks: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
  let bytes = Buffer.alloc(0)
  while (bytes.length < count) {
    const { done, value } = await chunks.next()
    if (done) break
    bytes = Buffer.concat([bytes, value])
  }
  return bytes
}

async function* prepend(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first
  yield* rest
}

function refuseUtf16(name: string, bytes: Uint8Array): void {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (isUtf16) throw new PetalError('FailedToParse', `${name} is UTF-16; convert it to UTF-8 first`)
}

async function sizesOf(path: string, total: number): Promise<SourceSizes> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(magicBytes), 0, magicBytes, 0)
    return { total, content: isGzip(buffer) ? undefined : total }
  } finally {
    await file.close()
  }
}
