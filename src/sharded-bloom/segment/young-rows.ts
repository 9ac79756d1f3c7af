/**
 * The hashed rows of a segment with few documents, kept as signatures: P bits per document, one after another. A chunk
 * of rows takes a quarter of a megabyte however few documents it has, too much for thousands of small collections.
 */

const firstDocuments = 4

export class YoungRows {
  readonly #shards: number
  /** Words of a signature. */
  readonly #words: number
  #signatures: Uint32Array
  /** Offset of the signature of the document being added. */
  #signature = 0

  constructor(shards: number) {
    this.#shards = shards
    this.#words = shards / 32
    this.#signatures = new Uint32Array(firstDocuments * this.#words)
  }

  /** Begins the document at the next position. */
  beginDocument(position: number): void {
    this.#makeRoomFor(position + 1)
    this.#signature = position * this.#words
  }

  set(row: number): void {
    this.#signatures[this.#signature + (row >>> 5)]! |= 1 << (row & 31)
  }

  /** Sets all rows of the document at once. */
  setSignature(signature: Uint32Array): void {
    this.#signatures.set(signature, this.#signature)
  }

  /** Returns the signatures of positions [from, to), all of which were added. */
  signatures(from: number, to: number): Uint32Array {
    return this.#signatures.subarray(from * this.#words, to * this.#words)
  }

  /**
   * Sets the bits of the AND of rows over the first `documents` in `out`, which is zero; returns whether any is set.
   */
  and(rows: ArrayLike<number>, documents: number, out: Uint8Array): boolean {
    const signatures = this.#signatures
    let isAnySet = false
    for (let position = 0, at = 0; position < documents; position++, at += this.#words) {
      let i = 0
      while (i < rows.length && (signatures[at + (rows[i]! >>> 5)]! & (1 << (rows[i]! & 31))) !== 0) i++
      if (i < rows.length) continue
      out[position >>> 3]! |= 1 << (position & 7)
      isAnySet = true
    }
    return isAnySet
  }

  /** Returns all rows over the first `documents`, `rowBytes` each, one after another. */
  toRows(documents: number, rowBytes: number): Uint8Array {
    const rows = new Uint8Array(this.#shards * rowBytes)
    for (let position = 0, at = 0; position < documents; position++) {
      const bit = 1 << (position & 7)
      const byte = position >>> 3
      for (let w = 0; w < this.#words; w++) {
        for (let rest = this.#signatures[at++]!; rest !== 0; rest &= rest - 1) {
          rows[(w * 32 + 31 - Math.clz32(rest & -rest)) * rowBytes + byte]! |= bit
        }
      }
    }
    return rows
  }

  /** Restores rows that toRows() made, from `firstRow` on. */
  addRows(rows: Uint8Array, firstRow: number, rowBytes: number, documents: number): void {
    this.#makeRoomFor(documents)
    const used = Math.ceil(documents / 8)
    const count = Math.min(rows.length / rowBytes, this.#shards - firstRow)
    for (let i = 0; i < count; i++) {
      for (let byte = 0; byte < used; byte++) {
        for (let rest = rows[i * rowBytes + byte]!; rest !== 0; rest &= rest - 1) {
          const position = byte * 8 + 31 - Math.clz32(rest & -rest)
          if (position >= documents) break
          this.#signature = position * this.#words
          this.set(firstRow + i)
        }
      }
    }
  }

  #makeRoomFor(documents: number): void {
    const before = this.#signatures
    let length = before.length
    while (length < documents * this.#words) length *= 2
    if (length === before.length) return
    this.#signatures = new Uint32Array(length)
    this.#signatures.set(before)
  }
}
