/**
 * Decompresses gzip, and loses nothing of it when it ends badly: whatever could be decompressed is yielded before the
 * error is thrown.
 *
 * Node's own createGunzip() drops what the call that failed had decompressed, up to a chunk: the last lines in front of
 * anything that stands behind the compressed data. So members are told apart here, and only what is between their header
 * and trailer is given to zlib.
 *
 * Invariants:
 * 1. Memory is bounded: zlib gets `pieceBytes` at a time, which expand a thousandfold at most.
 * 2. Of data that are damaged inside, less than `outputBytes` in front of the damage are lost.
 * @see RFC 1952
 */
import { crc32, createInflateRaw } from 'node:zlib'

const pieceBytes = 32 * 1024
const outputBytes = 64 * 1024
const trailerBytes = 8

/** Bits of the header's flags; the lowest one means nothing. */
const flag = { headerChecksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const

export class GzipError extends Error {
  override readonly name = 'GzipError'
  /** In the compressed data, where it was noticed; damage inside is up to `pieceBytes` behind. */
  readonly offset: number

  constructor(problem: string, offset: number, cause?: unknown) {
    super(`${problem}, at offset ${offset}`, cause === undefined ? undefined : { cause })
    this.offset = offset
  }
}

/** Whether it is gzip, by its first bytes. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/**
 * Yields the content of all members, one behind the other; zeros behind the last one are padding.
 * @throws GzipError for data that end too early, are damaged, or have something else behind them
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
    if (rest.some((byte) => byte !== 0)) throw new GzipError('something else follows the compressed data', offset)
    input.take(rest.length)
  }
  return false
}

async function readHeader(input: Input): Promise<void> {
  const start = input.offset
  const header = await input.exactly(10)
  const [, , method = 0, flags = 0] = header
  if (!isGzip(header) || method !== 8 || (flags & flag.reserved) !== 0) throw damaged(start)
  if (flags & flag.extra) await input.exactly(Buffer.from(await input.exactly(2)).readUInt16LE())
  if (flags & flag.name) await skipText(input)
  if (flags & flag.comment) await skipText(input)
  if (flags & flag.headerChecksum) await input.exactly(2)
}

async function skipText(input: Input): Promise<void> {
  for (let byte: number | undefined; byte !== 0; ) byte = (await input.exactly(1))[0]
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
      if (error !== undefined) throw piece.length === 0 ? endsEarly(offset) : damaged(offset, error)
      input.take(used)
    }
  } finally {
    inflater.close()
  }
  const { offset } = input
  const trailer = Buffer.from(await input.exactly(trailerBytes))
  if (trailer.readUInt32LE(0) !== checksum || trailer.readUInt32LE(4) !== bytes % 2 ** 32) throw damaged(offset)
}

/** The deflated data of one member. */
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
    // zlib takes all of it, or ends when it has met the end of its data: then the rest is somebody else's.
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

/** Bytes that can be looked at before they are taken. */
class Input {
  /** Of the first byte that was not taken. */
  offset = 0
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** The next bytes: fewer than `atLeast` only at the end. */
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

  /** @throws GzipError when there are fewer */
  async exactly(count: number): Promise<Uint8Array> {
    const bytes = await this.peek(count)
    if (bytes.length < count) throw endsEarly(this.offset + bytes.length)
    this.take(count)
    return bytes
  }
}

function damaged(offset: number, cause?: unknown): GzipError {
  return new GzipError('the compressed data is damaged', offset, cause)
}

function endsEarly(offset: number): GzipError {
  return new GzipError('the compressed data ends too early', offset)
}
