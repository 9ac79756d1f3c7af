/** Where an import's lines come from: chunks of bytes, or a file that is read here. */
import { FileChunks } from '../../lsm/fs/file-chunks.ts'
import { PetalError } from '../../model/errors.ts'
import { isPath } from './check-import.ts'

export { FileChunks }

/**
 * Newline-delimited JSON in UTF-8: chunks of bytes, split anywhere, or the path or `file:` URL of a file, which is read
 * faster than a stream of it.
 */
export type LineSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | string | URL

/** Key of a method of a source that is told which chunks nobody needs any longer, to use their memory again. */
export const recycle = Symbol('recycle')

type Chunks = Exclude<LineSource, string | URL> & { readonly [recycle]?: (chunk: Uint8Array) => void }

export interface OpenSource {
  readonly chunks: Chunks
  /** Undefined if it is not known. */
  readonly bytes: number | undefined
  /** For a source that was not iterated, or not to its end. Does not wait for a read that is under way. */
  close(): void
}

/** @throws PetalError FileStreamFailed for a file that cannot be read, BadValue for a compressed one */
export async function openSource(source: LineSource): Promise<OpenSource> {
  if (!isPath(source)) return { chunks: source, bytes: bytesOf(source), close: () => {} }
  const path = String(source)
  try {
    const file = await FileChunks.open(source)
    const close = (): void => {
      file.close().catch(() => {})
    }
    return { chunks: new FileLines(path, file), bytes: file.size, close }
  } catch (error) {
    throw unreadable(path, error)
  }
}

class FileLines implements AsyncIterable<Uint8Array> {
  readonly #path: string
  readonly #file: FileChunks

  constructor(path: string, file: FileChunks) {
    this.#path = path
    this.#file = file
  }

  [recycle](chunk: Uint8Array): void {
    this.#file.recycle(chunk)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let isFirst = true
    try {
      for await (const chunk of this.#file) {
        if (isFirst && isGzip(chunk)) throw compressed(this.#path)
        isFirst = false
        yield chunk
      }
    } catch (error) {
      throw error instanceof PetalError ? error : unreadable(this.#path, error)
    }
  }
}

/** Size of an array, all of whose chunks are available. */
function bytesOf(source: Chunks): number | undefined {
  if (!Array.isArray(source)) return undefined
  return source.reduce((sum: number, chunk: unknown) => sum + (chunk instanceof Uint8Array ? chunk.length : 0), 0)
}

/** Whether the bytes start with gzip's magic number. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

function compressed(path: string): PetalError {
  const advice = 'use createReadStream(path).pipe(createGunzip())'
  return new PetalError('BadValue', `importLines: ${path} is compressed by gzip; ${advice}`, {
    details: { file: path }
  })
}

function unreadable(path: string, cause: unknown): PetalError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new PetalError('FileStreamFailed', `importLines cannot read ${path}: ${reason}`, {
    cause,
    details: { file: path }
  })
}
