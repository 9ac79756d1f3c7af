/**
 * One block of sorted entries, decompressed.
 *
 * Payload: entries | restart offsets, u32 each, from the payload's start | number of restarts u32.
 * Entry: shared varint | unshared varint | value length varint | sequence · 2 + kind varint | key suffix | value.
 * `shared` bytes of the key are those of the entry before; at a restart there are none, so a search can begin there.
 */
import { corruption, type Place } from '../errors.ts'
import { readU32 } from './bytes.ts'

export class Block {
  readonly bytes: Buffer
  #start: number
  #entriesEnd: number
  /** At least 1. */
  readonly restartCount: number
  /** Where in which file it stands, for error messages. */
  readonly path: string
  readonly offset: number
  /** See ByteSpan. */
  marks = 0
  /** Whether its first key is the separator before it, see table-cursor.ts; undefined until somebody asks. */
  beginsWithSeparator: boolean | undefined = undefined

  /**
   * The payload in bytes[start, end).
   * @throws LEVEL_CORRUPTION when it cannot be one
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

  /** Where the payload begins in `bytes`. */
  get start(): number {
    return this.#start
  }

  /** Where the entries end and the restart offsets begin. */
  get entriesEnd(): number {
    return this.#entriesEnd
  }

  /** Where in `bytes` the entry of a restart begins. @throws LEVEL_CORRUPTION when that is not among the entries */
  restart(index: number): number {
    const at = this.start + readU32(this.bytes, this.entriesEnd + index * 4)
    if (at >= this.entriesEnd) throw corruption('a restart beyond the entries of its block', this.place)
    return at
  }

  /** The last restart at or before the entry that begins at `entry`. */
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

  /** The same block in bytes that nobody else has. */
  copy(): Block {
    return this.copyInto(Buffer.allocUnsafeSlow(this.payloadBytes), 0)
  }

  /** The same block in target[at, …). */
  copyInto(target: Buffer, at: number): Block {
    const { bytes, start, payloadBytes } = this
    target.set(bytes.subarray(start, start + payloadBytes), at)
    const copy = new Block(target, at, at + payloadBytes, this.path, this.offset)
    copy.marks = this.marks
    copy.beginsWithSeparator = this.beginsWithSeparator
    return copy
  }

  /** Moves the payload within `bytes` and the block with it. */
  moveTo(at: number): void {
    const { start, payloadBytes } = this
    this.bytes.copyWithin(at, start, start + payloadBytes)
    this.#start = at
    this.#entriesEnd += at - start
  }
}
