/**
 * What an import reads: a file of lines, one array, or documents that are spread over lines, as its first bytes say.
 */
import type { Source } from './source.ts'
import { type ValueLayout, ValueSplitter } from './value-splitter.ts'

type Layout = 'lines' | ValueLayout

/** White space, or the rest of a first line, that is looked at before the file is taken for lines. */
const maxHeadBytes = 64 * 1024
const byteOrderMark = Buffer.from('\ufeff')
const lineFeed = 0x0a
const openBracket = 0x5b
const openBrace = 0x7b

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
      let bytes = chunk
      if (head !== undefined) {
        head = Buffer.concat([head, chunk])
        const layout = layoutOf(head)
        if (layout === undefined) continue
        bytes = head
        head = undefined
        this.#layout = layout
        if (layout !== 'lines') {
          const markBytes = lengthOfMark(bytes)
          splitter = new ValueSplitter(layout, this.#source.name, markBytes)
          bytes = bytes.subarray(markBytes)
        }
      }
      yield splitter === undefined ? bytes : splitter.push(bytes)
    }
    if (head !== undefined) yield head
    if (!this.#signal.aborted) splitter?.end()
  }

  /** Where one of the lines came from. @param line from 1 */
  place(line: number): string {
    const { name } = this.#source
    return this.#layout === 'lines' ? `${name}:${line}` : `${name}, ${nouns[this.#layout]} ${line}`
  }
}

/** undefined when more has to be seen. */
function layoutOf(head: Uint8Array): Layout | undefined {
  const undecided = head.length < maxHeadBytes ? undefined : 'lines'
  if (head.length < byteOrderMark.length) return undecided
  const at = skip(head, lengthOfMark(head), ' \t\r\n')
  if (at === head.length) return undecided
  if (head[at] === openBracket) return 'array'
  if (head[at] !== openBrace) return 'lines'
  const next = skip(head, at + 1, ' \t\r')
  if (next === head.length) return undecided
  // A line that holds a brace and nothing else is no document.
  return head[next] === lineFeed ? 'documents' : 'lines'
}

function lengthOfMark(head: Uint8Array): number {
  return byteOrderMark.equals(head.subarray(0, byteOrderMark.length)) ? byteOrderMark.length : 0
}

/** The first place from `at` on where none of these bytes stands. */
function skip(bytes: Uint8Array, at: number, these: string): number {
  let next = at
  while (next < bytes.length && these.includes(String.fromCharCode(bytes[next]!))) next++
  return next
}
