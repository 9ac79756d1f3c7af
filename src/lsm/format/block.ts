/**
 * One decompressed block of sorted entries.
 *
 * Payload: entries | restart offsets, u32 each, from the payload's start | number of restarts u32.
 * Entry: shared varint | unshared varint | value length varint | sequence · 2 + kind varint | key suffix | value.
 * The first `shared` bytes of a key are those of the previous entry's key; 0 at a restart, so a search can begin
 * there.
 */
import { corruption, type Place } from '../errors.ts'
import { readU32 } from './bytes.ts'

export class Block {
  readonly bytes: Buffer
  #start: number
  #entriesEnd: number
  /** At least 1. */
  readonly restartCount: number
  /** The block's file and offset, for error messages. */
  readonly path: string
  readonly offset: number
  /** See ByteSpan. */
  marks = 0
  /** Whether its first key equals the preceding separator, see table-cursor.ts; undefined until computed. */
  beginsWithSeparator: boolean | undefined = undefined

  /**
   * Wraps the payload in bytes[start, end).
   * @throws LEVEL_CORRUPTION if it cannot be a block
   */
  constructor(bytes: Buffer, start: number, end: number, path: string, offset: number) {
    const restartCount = end - start < 8 ? 0 : readU32(bytes, end - 4)
    const entriesEnd = end - 4 - restartCount * 4
    if (restartCount === 0 || entriesEnd <= start) throw corruption('a block without entries', { path, offset })
    this.bytes = bytes
    this.#start = start
    this.#entriesEnd = entriesEnd
    this.restartCount = restartCount
    this.path = path
    this.offset = offset
  }

  /** Offset of the payload in `bytes`. */
  get start(): number {
    return this.#start
  }

  /** Offset at which the entries end and the restart offsets begin. */
  get entriesEnd(): number {
    return this.#entriesEnd
  }

  /** Offset in `bytes` of the entry at a restart. @throws LEVEL_CORRUPTION if it is outside the entries */
  restart(index: number): number {
    const at = this.start + readU32(this.bytes, this.entriesEnd + index * 4)
    if (at >= this.entriesEnd) throw corruption('a restart offset is beyond the entries of its block', this.place)
    return at
  }

  /** The last restart at or before the entry at offset `entry`. */
  restartBefore(entry: number): number {
    let low = 0
    let high = this.restartCount - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.restart(middle) <= entry) low = middle
      else high = middle - 1
    }
    return low
  }

  get payloadBytes(): number {
    return this.entriesEnd + this.restartCount * 4 + 4 - this.start
  }

  get place(): Place {
    return { path: this.path, offset: this.offset }
  }

  /** A copy in bytes of its own. */
  copy(): Block {
    return this.copyInto(Buffer.allocUnsafeSlow(this.payloadBytes), 0)
  }

  /** A copy at target[at, …). */
  copyInto(target: Buffer, at: number): Block {
    const { bytes, start, payloadBytes } = this
    target.set(bytes.subarray(start, start + payloadBytes), at)
    const copy = new Block(target, at, at + payloadBytes, this.path, this.offset)
    copy.marks = this.marks
    copy.beginsWithSeparator = this.beginsWithSeparator
    return copy
  }

  /** Moves the payload, and with it the block, within `bytes`. */
  moveTo(at: number): void {
    const { start, payloadBytes } = this
    this.bytes.copyWithin(at, start, start + payloadBytes)
    this.#start = at
    this.#entriesEnd += at - start
  }
}
