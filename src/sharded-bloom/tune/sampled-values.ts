/**
 * Path, tag and key of each pair of a sample, by number, kept as numbers and bytes. Nine in ten pairs are never read,
 * and a hundred thousand objects would cost more to create, and to move during garbage collection, than all the
 * counting.
 */
import type { SampleArrays } from './pair-counter.ts'
import { entryWords, firstAt, formAt, KeyForm, type PairList, pathAt, secondAt, tagAt } from './pair-list.ts'

/**
 * Words of a value: its path's number, or the complement of the path's number in `source`; its tag, with its form above
 * it; and two for the key.
 */
const valueWords = 4
const tagAndFormAt = 1
const keyAt = 2
const formShift = 8
const tagMask = 0xff
/** Bytes between texts are kept along with them up to this average per text. */
const bytesPerText = 128

// Keeps a leading U+FEFF, which is not a byte order mark here.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const double = new Float64Array(1)
const halves = new Int32Array(double.buffer)

export class SampledValues {
  readonly #paths = new SampledPaths()
  #words: Int32Array = new Int32Array(0)
  #bytes: Uint8Array = new Uint8Array(0)
  /** Paths by the counter's numbers. */
  #source: readonly string[] = []
  /**
   * A Buffer over the bytes, for #ascii(), and the array it was made for: texts are many, and a view of each would cost
   * more than the text.
   */
  #buffer: Buffer | undefined
  #bufferOf: Uint8Array | undefined
  /** Bytes of all texts. */
  bytesLength = 0
  #keys: (number | string)[] = []
  /** Number of texts in the current document's bytes, and the range they span. */
  #texts = 0
  #textsStart = 0
  #textsEnd = 0

  /** Moves to the arrays of a counter, which has its own numbers for paths. REQUIRES: no text was added. */
  attach({ values, texts }: SampleArrays, source: readonly string[], size: number): void {
    values.set(this.#words.subarray(0, size * valueWords))
    this.#words = values
    this.#bytes = texts
    this.#source = source
  }

  /** Copies the first `size` values out of a counter's arrays. */
  detach(size: number): void {
    this.#words = this.#words.slice(0, size * valueWords)
    this.#bytes = this.#bytes.slice(0, this.bytesLength)
    for (let number = 0; number < size; number++) this.#words[number * valueWords] = this.#pathNumber(number)
    this.#source = []
  }

  /** Adds the document's i-th pair. Call keep() at the end of the document. */
  add(number: number, list: PairList, i: number): void {
    if ((number + 1) * valueWords > this.#words.length) this.#words = grown(this.#words, (number + 1) * 2 * valueWords)
    const from = i * entryWords
    const to = number * valueWords
    const { words } = list
    const form = words[from + formAt]!
    const first = words[from + firstAt]!
    const second = words[from + secondAt]!
    this.#words[to] = this.#paths.numberOf(list.paths, words[from + pathAt]!)
    this.#words[to + tagAndFormAt] = words[from + tagAt]! | (form << formShift)
    this.#words[to + keyAt] = form === KeyForm.value ? this.#keys.push(list.keys[first]!) - 1 : first
    this.#words[to + keyAt + 1] = second
    if (form === KeyForm.ascii || form === KeyForm.json) this.#noteText(first, first + second)
  }

  /** Copies the texts of the values added since the last call. @param from number of the first of them, up to `to` */
  keep({ bytes }: PairList, from: number, to: number): void {
    if (this.#texts === 0) return
    const length = this.#textsEnd - this.#textsStart
    if (length <= bytesPerText * this.#texts) {
      const place = this.#append(bytes, this.#textsStart, this.#textsEnd)
      this.#moveTexts(from, to, place - this.#textsStart)
    } else this.#keepEach(bytes, from, to)
    this.#texts = 0
  }

  path(number: number): string {
    return this.#paths.names[this.#pathNumber(number)]!
  }

  pathAndTag(number: number): number {
    return (this.#pathNumber(number) << formShift) | this.tag(number)
  }

  #pathNumber(number: number): number {
    const path = this.#words[number * valueWords]!
    return path < 0 ? this.#paths.numberOf(this.#source, ~path) : path
  }

  tag(number: number): number {
    return this.#words[number * valueWords + tagAndFormAt]! & tagMask
  }

  key(number: number): number | string {
    const at = number * valueWords
    const first = this.#words[at + keyAt]!
    const second = this.#words[at + keyAt + 1]!
    switch (this.#words[at + tagAndFormAt]! >>> formShift) {
      case KeyForm.double:
        halves[0] = first
        halves[1] = second
        return double[0]!
      case KeyForm.ascii:
        return this.#ascii(first, first + second)
      case KeyForm.json:
        return this.#json(first, first + second)
      default:
        return this.#keys[first]!
    }
  }

  /** Drops all values except some, which are renumbered from 0 on. @param kept their numbers, ascending */
  drop(kept: Int32Array): void {
    const bytes = this.#bytes
    const keys = this.#keys
    this.#bytes = new Uint8Array(0)
    this.bytesLength = 0
    this.#keys = []
    for (let i = 0; i < kept.length; i++) {
      const from = kept[i]! * valueWords
      const to = i * valueWords
      this.#words.copyWithin(to, from, from + valueWords)
      const form = this.#words[to + tagAndFormAt]! >>> formShift
      const first = this.#words[to + keyAt]!
      if (form === KeyForm.value) this.#words[to + keyAt] = this.#keys.push(keys[first]!) - 1
      else if (form !== KeyForm.double)
        this.#words[to + keyAt] = this.#append(bytes, first, first + this.#words[to + keyAt + 1]!)
    }
  }

  #ascii(start: number, end: number): string {
    if (typeof Buffer !== 'function') return decoder.decode(this.#bytes.subarray(start, end))
    if (this.#bufferOf !== this.#bytes) this.#updateBuffer()
    return this.#buffer!.toString('latin1', start, end)
  }

  #updateBuffer(): void {
    const { buffer, byteOffset, length } = this.#bytes
    this.#buffer = Buffer.from(buffer, byteOffset, length)
    this.#bufferOf = this.#bytes
  }

  #json(start: number, end: number): string {
    return JSON.parse(`"${decoder.decode(this.#bytes.subarray(start, end))}"`) as string
  }

  #noteText(start: number, end: number): void {
    if (this.#texts === 0 || start < this.#textsStart) this.#textsStart = start
    if (this.#texts === 0 || end > this.#textsEnd) this.#textsEnd = end
    this.#texts++
  }

  #moveTexts(from: number, to: number, distance: number): void {
    const words = this.#words
    for (let at = from * valueWords; at < to * valueWords; at += valueWords) {
      const form = words[at + tagAndFormAt]! >>> formShift
      if (form === KeyForm.ascii || form === KeyForm.json) words[at + keyAt]! += distance
    }
  }

  #keepEach(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from * valueWords; at < to * valueWords; at += valueWords) {
      const form = this.#words[at + tagAndFormAt]! >>> formShift
      if (form !== KeyForm.ascii && form !== KeyForm.json) continue
      const start = this.#words[at + keyAt]!
      this.#words[at + keyAt] = this.#append(bytes, start, start + this.#words[at + keyAt + 1]!)
    }
  }

  /** @returns the bytes' new location */
  #append(bytes: Uint8Array, start: number, end: number): number {
    const place = this.bytesLength
    this.bytesLength += end - start
    if (this.bytesLength > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.bytesLength, place * 2))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes.set(bytes.subarray(start, end), place)
    return place
  }
}

/** Maps the path numbers of different sources to its own. */
class SampledPaths {
  readonly names: string[] = []
  readonly #numbers = new Map<string, number>()
  #source: readonly string[] | undefined
  /** By the source's number, its own number plus one, or 0 if not known yet. */
  #known: Int32Array = new Int32Array(8)

  numberOf(source: readonly string[], place: number): number {
    if (source !== this.#source) this.#begin(source)
    if (place >= this.#known.length) this.#known = grown(this.#known, place * 2)
    const known = this.#known[place]!
    return known > 0 ? known - 1 : this.#learn(source[place]!, place)
  }

  #begin(source: readonly string[]): void {
    this.#source = source
    this.#known.fill(0)
  }

  #learn(path: string, place: number): number {
    let number = this.#numbers.get(path)
    if (number === undefined) {
      number = this.names.push(path) - 1
      this.#numbers.set(path, number)
    }
    this.#known[place] = number + 1
    return number
  }
}

function grown(words: Int32Array, length: number): Int32Array {
  const larger = new Int32Array(length)
  larger.set(words)
  return larger
}
