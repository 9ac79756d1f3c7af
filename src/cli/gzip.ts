/**
 * Decompresses gzip without losing data when it fails: everything that could be decompressed is yielded before the
 * error is thrown.
 *
 * Node's createGunzip() drops what the failing call had decompressed, up to a chunk: the last lines before any garbage
 * after the compressed data. Therefore members are separated here, and zlib only gets the data between their headers
 * and trailers.
 *
 * Invariants:
 * 1. Memory is bounded: zlib gets `pieceBytes` at a time, which expand at most a thousandfold.
 * 2. When data is damaged inside, less than `outputBytes` before the damage is lost.
 * @see RFC 1952
 */
import { crc32, createInflateRaw } from 'node:zlib'
import { isGzip } from '../docstore/import/line-source.ts'

const pieceBytes = 32 * 1024
const outputBytes = 64 * 1024
const trailerBytes = 8

/** Flag bits of the header; the lowest one has no effect. */
const flag = { headerChecksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const

class GzipError extends Error {
  override readonly name = 'GzipError'
  /** Offset in the compressed data where the error was detected; the damage may be up to `pieceBytes` further on. */
  readonly offset: number

  constructor(problem: string, offset: number, cause?: unknown) {
    super(`${problem}, at offset ${offset}`, cause === undefined ? undefined : { cause })
    this.offset = offset
  }
}

/**
 * Yields the concatenated content of all members; zeros after the last one are padding.
 * @throws GzipError for data that is truncated, damaged, or followed by something else
 */
export async function* gunzip(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const input = new Input(compressed)
  do {
    await readHeader(input)
    yield* readMember(input)
  } while (await hasMember(input))
}

async function hasMember(input: Input): Promise<boolean> {
  const { offset } = input
  if (isGzip(await input.peek(2))) return true
  for (let rest = await input.peek(1, pieceBytes); rest.length > 0; rest = await input.peek(1, pieceBytes)) {
    if (rest.some((byte) => byte !== 0)) throw new GzipError('unexpected data after the compressed data', offset)
    input.take(rest.length)
  }
  return false
}

async function readHeader(input: Input): Promise<void> {
  const start = input.offset
  const header = await input.readExactly(10)
  const [, , method = 0, flags = 0] = header
  if (!isGzip(header) || method !== 8 || (flags & flag.reserved) !== 0) throw damaged(start)
  if (flags & flag.extra) await input.readExactly(Buffer.from(await input.readExactly(2)).readUInt16LE())
  if (flags & flag.name) await skipText(input)
  if (flags & flag.comment) await skipText(input)
  if (flags & flag.headerChecksum) await input.readExactly(2)
}

async function skipText(input: Input): Promise<void> {
  for (let byte: number | undefined; byte !== 0; ) byte = (await input.readExactly(1))[0]
}

async function* readMember(input: Input): AsyncGenerator<Uint8Array, void, undefined> {
  let checksum = 0
  let bytes = 0
  const inflater = new Inflater()
  try {
    while (!inflater.isDone) {
      const { offset } = input
      const piece = await input.peek(1, pieceBytes)
      const { used, output, error } = await inflater.push(piece)
      for (const chunk of output) {
        checksum = crc32(chunk, checksum)
        bytes += chunk.length
        yield chunk
      }
      if (error !== undefined) throw piece.length === 0 ? unexpectedEnd(offset) : damaged(offset, error)
      input.take(used)
    }
  } finally {
    inflater.close()
  }
  const { offset } = input
  const trailer = Buffer.from(await input.readExactly(trailerBytes))
  if (trailer.readUInt32LE(0) !== checksum || trailer.readUInt32LE(4) !== bytes % 2 ** 32) throw damaged(offset)
}

/** Decompresses the deflated data of one member. */
class Inflater {
  readonly #stream = createInflateRaw({ chunkSize: outputBytes })
  readonly #ended: Promise<unknown>
  #output: Uint8Array[] = []
  isDone = false

  constructor() {
    this.#stream.on('data', (chunk: Uint8Array) => this.#output.push(chunk))
    this.#ended = new Promise<unknown>((resolve) => {
      this.#stream.on('error', resolve).on('end', () => {
        this.isDone = true
        resolve(undefined)
      })
    })
  }

  /** @param piece empty at the end of the input */
  async push(piece: Uint8Array): Promise<{ used: number; output: readonly Uint8Array[]; error: unknown }> {
    const before = this.#stream.bytesWritten
    this.#output = []
    // zlib takes the whole piece, or stops at the end of its data, in which case the rest belongs to the trailer.
    const taken = new Promise<undefined>((resolve) => {
      if (piece.length === 0) this.#stream.end()
      else this.#stream.write(piece, (error) => error ?? resolve(undefined))
    })
    const error = await Promise.race([this.#ended, taken])
    return { used: this.#stream.bytesWritten - before, output: this.#output, error }
  }

  close(): void {
    this.#stream.destroy()
  }
}

/** Input with lookahead. */
class Input {
  /** Offset of the first byte not taken yet. */
  offset = 0
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Returns the next bytes; fewer than `atLeast` only at the end. */
  async peek(atLeast: number, atMost = atLeast): Promise<Uint8Array> {
    while (this.#rest.length < atLeast) {
      const { done, value } = await this.#chunks.next()
      if (done) break
      this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
    }
    return this.#rest.subarray(0, atMost)
  }

  take(bytes: number): void {
    this.#rest = this.#rest.subarray(bytes)
    this.offset += bytes
  }

  /** @throws GzipError if there are fewer */
  async readExactly(count: number): Promise<Uint8Array> {
    const bytes = await this.peek(count)
    if (bytes.length < count) throw unexpectedEnd(this.offset + bytes.length)
    this.take(count)
    return bytes
  }
}

function damaged(offset: number, cause?: unknown): GzipError {
  return new GzipError('the compressed data is damaged', offset, cause)
}

function unexpectedEnd(offset: number): GzipError {
  return new GzipError('the compressed data is truncated', offset)
}
