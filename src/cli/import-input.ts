/**
 * What an import reads: a file of lines, one array, or documents that are spread over lines, as its first bytes say.
 */
import { type Layout, layoutOf, lengthOfMark } from './layout.ts'
import type { Source } from './source.ts'
import { ValueSplitter } from './value-splitter.ts'

const nouns: Readonly<Record<Layout, string>> = { lines: 'line', array: 'element', documents: 'document' }

export class ImportInput {
  readonly #source: Source
  readonly #signal: AbortSignal
  #layout: Layout = 'lines'

  /** @param signal the source's: what it cuts off is not incomplete */
  constructor(source: Source, signal: AbortSignal) {
    this.#source = source
    this.#signal = signal
  }

  /** Its documents as lines. @throws as Source.chunks(), and PetalError FailedToParse for an array that is none */
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

  /** undefined for lines. */
  #splitterFor(layout: Layout, head: Uint8Array): ValueSplitter | undefined {
    this.#layout = layout
    return layout === 'lines' ? undefined : new ValueSplitter(layout, this.#source.name, lengthOfMark(head))
  }

  #begin(head: Uint8Array, splitter: ValueSplitter | undefined): Uint8Array {
    return splitter === undefined ? head : splitter.push(head.subarray(lengthOfMark(head)))
  }

  /** Where one of the lines came from. @param line from 1 */
  place(line: number): string {
    const { name } = this.#source
    return this.#layout === 'lines' ? `${name}:${line}` : `${name}, ${nouns[this.#layout]} ${line}`
  }
}
