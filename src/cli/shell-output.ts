/** Prints values in the shell: a page of a cursor, or the value of a promise. */
import type { Writable } from 'node:stream'
import { inspect } from 'node:util'
import { formatDuration } from './format.ts'
import { LineWriter } from './line-writer.ts'

/** Documents of a cursor shown at once on a terminal. */
export const pageDocuments = 20

interface OutputStyle {
  /** Documents of a cursor shown at once. */
  readonly page: number
  /** Whether to show how long it took. */
  readonly isTimed: boolean
  readonly isColoured: boolean
}

/** A cursor of find(), aggregate() or watch(). */
interface Cursor extends AsyncIterable<unknown> {
  close(): Promise<unknown>
}

export class ShellOutput {
  readonly #stream: Writable
  /** For documents, respecting backpressure. */
  readonly #lines: LineWriter
  readonly #style: OutputStyle
  /** The last cursor shown, if it may have more documents. */
  #rest: { readonly cursor: Cursor; readonly documents: AsyncIterator<unknown> } | undefined
  /** How often waiting for a value has ended before it arrived. */
  #abandoned = 0

  constructor(stream: Writable, style: OutputStyle) {
    this.#stream = stream
    this.#lines = new LineWriter(stream, 'standard output')
    this.#style = style
  }

  text(value: unknown): string {
    return inspect(value, { colors: this.#style.isColoured, depth: 10, maxArrayLength: 200 })
  }

  /** Formats a thrown value, with the stack frames in the typed lines. */
  errorText(error: unknown): string {
    if (!(error instanceof Error) || error.stack === undefined) return this.text(error)
    const [head = '', ...frames] = error.stack.split(/\n(?= {4}at )/)
    return [head, ...frames.filter((frame) => /\bshell:\d/.test(frame))].join('\n')
  }

  /** Awaits a value and prints it, unless it is undefined. @throws the rejection reason of a promise */
  async show(value: unknown): Promise<void> {
    const begin = performance.now()
    if (isCursor(value)) {
      const before = this.#rest
      const rest = { cursor: value, documents: value[Symbol.asyncIterator]() }
      this.#rest = rest
      await before?.cursor.close()
      if (this.#rest === rest) await this.more()
      return
    }
    const abandoned = this.#abandoned
    const shown = await value
    if (this.#abandoned !== abandoned) return
    if (isCursor(shown)) return this.show(shown)
    if (shown !== undefined) this.print(this.text(shown))
    if (value instanceof Promise) this.#printTiming(formatDuration(performance.now() - begin))
  }

  /** Shows the next page of the last cursor. @throws errors of the cursor; ClosedPipe if the reader has gone */
  async more(): Promise<void> {
    const rest = this.#rest
    if (rest === undefined) return this.print('there is nothing more to show')
    const begin = performance.now()
    let count = 0
    let isOver = false
    try {
      while (count < this.#style.page && !isOver) {
        const { done, value } = await rest.documents.next()
        // It was interrupted, or another cursor is being shown.
        if (this.#rest !== rest) return
        isOver = done === true
        if (isOver) break
        await this.#lines.write(this.text(value))
        // Somebody is watching, and the next document may take long, or for ever.
        if (this.#style.page < Number.POSITIVE_INFINITY) await this.#lines.flush()
        count++
      }
    } finally {
      await this.#lines.flush()
    }
    if (isOver) this.#rest = undefined
    const number = `${count} document${count === 1 ? '' : 's'}${isOver ? '' : '; .more shows the next ones'}`
    this.#printTiming(`${number} in ${formatDuration(performance.now() - begin)}`)
  }

  /** Closes the current cursor. A pending promise continues unseen. */
  async interrupt(): Promise<void> {
    this.print(this.#rest === undefined ? 'no longer waiting for the result' : 'interrupted')
    await this.end()
  }

  /** Closes the last cursor shown, and abandons a value that has not arrived. */
  async end(): Promise<void> {
    this.#abandoned++
    const rest = this.#rest
    this.#rest = undefined
    await rest?.cursor.close()
  }

  print(line: string): void {
    this.#stream.write(`${line}\n`)
  }

  #printTiming(line: string): void {
    if (this.#style.isTimed) this.print(`-- ${line}`)
  }
}

function isCursor(value: unknown): value is Cursor {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'close' in value
}
