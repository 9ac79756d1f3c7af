/**
 * The stored form of fingerprints: entries of a code and a position, sorted by code, then by position, without
 * duplicates.
 *
 * The leading bits of the code give its bucket; within it, the code is the remaining `width` bits. A bucket without
 * entries has no bytes. Any other is a bit stream, lowest bit of each byte first, padded with zeros to a byte:
 *
 * | bits                       | what                                                                           |
 * | -------------------------- | ------------------------------------------------------------------------------ |
 * | γ                          | c, number of distinct codes                                                    |
 * | for each code: Rice(k)     | the code, less the one before and less 1; k = ⌊log2(2^width / c)⌋              |
 * | γ                          | m, number of its positions                                                     |
 * | m = 1: ⌈log2 documents⌉ bits | the position                                                                 |
 * | m > 1: m × Rice(j)         | each position, less the one before and less 1; j = ⌊log2(documents / m)⌋       |
 *
 * γ is Elias gamma: as many zeros as there are bits after the leading one, the leading one, those bits. Rice(k) is the
 * number shifted right by k in unary (that many zeros, then a one), followed by its low k bits. Numbers are written
 * lowest bit first. A kernel decodes them (bloom/kernels/assembly/fingerprints.ts).
 * @see Elias, Universal codeword sets, 1975; Rice, Some practical universal noiseless coding techniques, 1979
 */

/** Returns H bits of a pair's hash, independent of the rows that it would have. */
export function fingerprintOf(lo: number, hi: number, bits: number): number {
  return Math.imul(lo ^ ((hi << 16) | (hi >>> 16)), 0x9e3779b1) >>> (32 - bits)
}

/** Entries in parallel arrays. */
export interface Entries {
  readonly codes: Uint32Array
  readonly positions: Uint16Array
}

/**
 * Appends a bucket of the entries [from, to).
 * @param width number of low code bits to store
 * @param first the position that is stored as 0; all are below first + documents
 */
export function encodeBucket(
  { codes, positions }: Entries,
  from: number,
  to: number,
  width: number,
  first: number,
  documents: number,
  out: BitWriter
): void {
  if (from === to) return
  const mask = 2 ** width - 1
  let distinct = 1
  for (let i = from + 1; i < to; i++) if (codes[i] !== codes[i - 1]) distinct++
  out.gamma(distinct)
  const codeShift = floorLog2(2 ** width / distinct)
  const positionBits = documents < 2 ? 0 : 32 - Math.clz32(documents - 1)
  let nextCode = 0
  for (let i = from; i < to; ) {
    const stored = codes[i]!
    let end = i + 1
    while (end < to && codes[end] === stored) end++
    const code = stored & mask
    out.rice(code - nextCode, codeShift)
    nextCode = code + 1
    const count = end - i
    out.gamma(count)
    if (count === 1) {
      out.bits(positions[i++]! - first, positionBits)
      continue
    }
    const shift = floorLog2(documents / count)
    let next = 0
    for (; i < end; i++) {
      const position = positions[i]! - first
      out.rice(position - next, shift)
      next = position + 1
    }
  }
  out.align()
}

/** @param number at least 1, below 2^31 */
function floorLog2(number: number): number {
  return 31 - Math.clz32(number)
}

/** Packs bits into bytes, lowest bit of each byte first. */
export class BitWriter {
  #words = new Uint32Array(1024)
  /** Number of whole words. */
  #length = 0
  #word = 0
  /** Bits in the word being filled, below 32. */
  #fill = 0

  /** @param count at most 30; `number` has no more bits */
  bits(number: number, count: number): void {
    this.#word |= number << this.#fill
    const fill = this.#fill + count
    if (fill < 32) {
      this.#fill = fill
      return
    }
    this.#flush()
    this.#fill = fill - 32
    this.#word = this.#fill === 0 ? 0 : number >>> (count - this.#fill)
  }

  gamma(number: number): void {
    const count = floorLog2(number)
    this.#unary(count)
    this.bits(number - (1 << count), count)
  }

  rice(number: number, shift: number): void {
    this.#unary(number >>> shift)
    this.bits(number & ((1 << shift) - 1), shift)
  }

  /** Pads to the next byte. */
  align(): void {
    this.#fill = (this.#fill + 7) & ~7
    if (this.#fill < 32) return
    this.#flush()
    this.#fill = 0
    this.#word = 0
  }

  /** Returns all bytes since the last call, valid until more are written. REQUIRES: align() was the last call. */
  take(): Uint8Array {
    const length = 4 * this.#length + this.#fill / 8
    if (this.#length === this.#words.length) this.#grow()
    this.#words[this.#length] = this.#word
    this.#length = 0
    this.#fill = 0
    this.#word = 0
    return new Uint8Array(this.#words.buffer, 0, length)
  }

  #unary(zeros: number): void {
    let rest = zeros
    for (; rest >= 30; rest -= 30) this.bits(0, 30)
    this.bits(1 << rest, rest + 1)
  }

  #flush(): void {
    if (this.#length === this.#words.length) this.#grow()
    this.#words[this.#length++] = this.#word
  }

  #grow(): void {
    const words = new Uint32Array(2 * this.#words.length)
    words.set(this.#words)
    this.#words = words
  }
}
