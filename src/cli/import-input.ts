/**
 * The input of an import: lines, one array, or documents spread over several lines, as detected from its first bytes.
 */
import { byteOrderMarkLength, type Layout, layoutOf } from './layout.ts'
import type { Source } from './source.ts'
import { ValueSplitter } from './value-splitter.ts'

const nouns: Readonly<Record<Layout, string>> = { lines: 'line', array: 'element', documents: 'document' }

export class ImportInput {
  readonly #source: Source
  readonly #signal: AbortSignal
  #layout: Layout = 'lines'

  /** @param signal of the source: input cut off by it is not reported as incomplete */
  constructor(source: Source, signal: AbortSignal) {
    this.#source = source
    this.#signal = signal
  }

  /** Takes back a chunk that lines() has yielded, if nothing else has to be kept of it. */
  recycle(chunk: Uint8Array): void {
    if (this.#layout === 'lines') this.#source.recycle(chunk)
  }

  /** Yields its documents as lines. @throws as Source.chunks(), and PetalError FailedToParse for an invalid array */
  async *lines(): AsyncGenerator<Uint8Array, void, undefined> {
    let head: Uint8Array | undefined = new Uint8Array()
    let splitter: ValueSplitter | undefined
    for await (const chunk of this.#source.chunks()) {
      if (head === undefined) {
        yield splitter === undefined ? chunk : splitter.push(chunk)
        continue
      }
      head = Buffer.concat([head, chunk])
      const layout = layoutOf(head, false)
      if (layout === undefined) continue
      splitter = this.#splitterFor(layout, head)
      yield this.#begin(head, splitter)
      head = undefined
    }
    if (head !== undefined) {
      splitter = this.#splitterFor(layoutOf(head, true) ?? 'lines', head)
      yield this.#begin(head, splitter)
    }
    if (this.#signal.aborted || splitter === undefined) return
    yield splitter.rest()
    splitter.end()
  }

  /** Returns undefined for lines. */
  #splitterFor(layout: Layout, head: Uint8Array): ValueSplitter | undefined {
    this.#layout = layout
    return layout === 'lines' ? undefined : new ValueSplitter(layout, this.#source.name, byteOrderMarkLength(head))
  }

  #begin(head: Uint8Array, splitter: ValueSplitter | undefined): Uint8Array {
    return splitter === undefined ? head : splitter.push(head.subarray(byteOrderMarkLength(head)))
  }

  /** Returns the origin of a line. @param line from 1 */
  place(line: number): string {
    const { name } = this.#source
    return this.#layout === 'lines' ? `${name}:${line}` : `${name}, ${nouns[this.#layout]} ${line}`
  }
}
