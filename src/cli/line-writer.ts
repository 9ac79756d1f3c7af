/** Writes lines to a stream, in large pieces, respecting backpressure. */
import type { Writable } from 'node:stream'
import { ClosedPipe, FileError, isSystemError } from './errors.ts'

const pieceCharacters = 64 * 1024
/** A line waits for others no longer than this: they may take long to be found. */
const maxWaitMilliseconds = 200

/** Prints one line to standard output. @throws ClosedPipe, FileError */
export async function printLine(line: string): Promise<void> {
  const writer = new LineWriter(process.stdout, 'standard output')
  await writer.write(line)
  await writer.flush()
}

/**
 * Prints the last lines of a command whose exit status says more than its output. A reader that has gone must not turn a
 * failure into a success.
 */
export async function printOutcome(lines: string): Promise<void> {
  try {
    await printLine(lines)
  } catch (error) {
    if (!(error instanceof ClosedPipe)) throw error
  }
}

export class LineWriter {
  readonly #stream: Writable
  readonly #name: string
  #pending = ''
  #timer: NodeJS.Timeout | undefined
  #error: unknown
  /** The piece on its way. */
  #writing: Promise<void> | undefined

  /** @param name for messages */
  constructor(stream: Writable, name: string) {
    this.#stream = stream
    this.#name = name
    stream.on('error', (error) => {
      this.#error ??= error
    })
  }

  /**
   * Adds a line. If a promise is returned, it must be awaited before the next line.
   * @throws ClosedPipe if the reader has gone
   */
  write(line: string): Promise<void> | undefined {
    this.#pending += `${line}\n`
    if (this.#pending.length >= pieceCharacters) return this.flush()
    // If this fails, so will the next flush, which is waited for.
    this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), maxWaitMilliseconds).unref()
    return undefined
  }

  /** Flushes buffered lines; resolves when the stream has taken them. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const piece = this.#pending
    this.#pending = ''
    if (this.#error !== undefined) throw this.#failure(this.#error)
    if (piece !== '') this.#writing = this.#send(piece)
    await this.#writing
  }

  #send(piece: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(piece, (error) => (error ? reject(this.#failure(error)) : resolve()))
    })
  }

  #failure(error: unknown): Error {
    const isGone = isSystemError(error) && error.code === 'EPIPE'
    return isGone ? new ClosedPipe(error) : new FileError('write', this.#name, error)
  }
}
