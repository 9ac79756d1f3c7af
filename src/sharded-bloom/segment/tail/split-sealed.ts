/**
 * The Bloom tail of a sealed segment with crowded documents, as split-open.ts has made it: frames of the rows and the
 * upper level first, then those of the fingerprints.
 */
import type { RowPart } from '../and-groups.ts'
import type { HashedPair } from '../private-table.ts'
import type { BloomSealedTail } from './bloom-sealed.ts'
import type { FingerprintSealedTail } from './fingerprint-sealed.ts'
import type { SealedTail, TailFrames } from './tail.ts'

export class SplitSealedTail implements SealedTail {
  readonly frameCount: number
  readonly #rows: BloomSealedTail
  readonly #crowded: FingerprintSealedTail

  /** @param crowded uses the frames behind those of `rows` */
  constructor(rows: BloomSealedTail, crowded: FingerprintSealedTail) {
    this.#rows = rows
    this.#crowded = crowded
    this.frameCount = rows.frameCount + crowded.frameCount
  }

  keyOf(frame: number): Uint8Array {
    const { frameCount } = this.#rows
    return frame < frameCount ? this.#rows.keyOf(frame) : this.#crowded.keyOf(frame - frameCount)
  }

  place(frame: number, bytes: Uint8Array, address: number): boolean {
    const { frameCount } = this.#rows
    return frame < frameCount
      ? this.#rows.place(frame, bytes, address)
      : this.#crowded.place(frame - frameCount, bytes, address)
  }

  loadGroups(pair: HashedPair): void | Promise<void> {
    return both(this.#rows.loadGroups(pair), this.#crowded.loadGroups(pair))
  }

  groups(pair: HashedPair): number {
    return this.#rows.groups(pair) | this.#crowded.groups(pair)
  }

  load(pair: HashedPair): void | Promise<void> {
    return both(this.#rows.load(pair), this.#crowded.load(pair))
  }

  narrowGroups(pair: HashedPair, groups: number): number {
    return this.#rows.narrowGroups(pair, groups) | (this.#crowded.groups(pair) & groups)
  }

  andHashed(pair: HashedPair, out: number, part: RowPart): boolean | undefined {
    const isAnySet = this.#rows.andHashed(pair, out, part)
    if (isAnySet === undefined) return undefined
    if (!isAnySet) return this.#crowded.andHashed(pair, out, part)
    return this.#crowded.orHashed(pair, out) === undefined ? undefined : true
  }
}

/** The frames of a segment from `first` on, numbered from 0. */
export class LaterFrames implements TailFrames {
  readonly #frames: TailFrames
  readonly #first: number

  constructor(frames: TailFrames, first: number) {
    this.#frames = frames
    this.#first = first
  }

  has(frame: number): boolean {
    return this.#frames.has(this.#first + frame)
  }

  pin(frame: number): boolean {
    return this.#frames.pin(this.#first + frame)
  }

  addressOf(frame: number): number {
    return this.#frames.addressOf(this.#first + frame)
  }

  load(frame: number): void | Promise<void> {
    return this.#frames.load(this.#first + frame)
  }
}

function both(first: void | Promise<void>, second: void | Promise<void>): void | Promise<void> {
  if (first === undefined) return second
  return second === undefined ? first : Promise.all([first, second]).then(() => undefined)
}
