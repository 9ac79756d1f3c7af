/**
 * A cursor over one block at a time.
 *
 * Invariants:
 * 1. Exposed bytes are never overwritten: values are ranges of the block, keys ranges of an arena that is replaced
 *    when full. If the block is not shared, callers may keep both as long as they like.
 * 2. Nothing is allocated per entry.
 * 3. Every range is checked against the block's end before it is exposed, every shared length against the previous
 *    key.
 */
import { copyBytes } from '../../model/copy-bytes.ts'
import { corruption } from '../errors.ts'
import type { Block } from './block.ts'
import type { Cursor } from './cursor.ts'
import { compareRanges, EntryKind } from './entry.ts'
import { readVarint, varintBytes } from './varint.ts'

const noBytes = Buffer.alloc(0)
const smallestArena = 512
const largestArena = 16_384

export class BlockCursor implements Cursor {
  isValid = false
  keyBytes: Uint8Array = noBytes
  keyStart = 0
  keyEnd = 0
  sequence = 0
  kind: EntryKind = EntryKind.tombstone
  valueBytes: Uint8Array = noBytes
  valueStart = 0
  valueEnd = 0

  #block: Block | undefined
  #entriesEnd = 0

  /** The last parsed entry: its offset, and the position of its key suffix in the block. */
  #entry = 0
  #shared = 0
  #suffixStart = 0
  #suffixEnd = 0

  #arena: Uint8Array = noBytes
  #arenaUsed = 0

  /**
   * For backward moves: the entries of one restart interval. Empty after a move forward. The keys of an interval may
   * lie in two arenas.
   */
  #steps = 0
  #step = 0
  #interval = 0
  readonly #stepEntry: number[] = []
  readonly #stepKeyBytes: Uint8Array[] = []
  readonly #stepKeyStart: number[] = []
  readonly #stepKeyEnd: number[] = []

  /** The current block; undefined before the first load(). */
  get block(): Block | undefined {
    return this.#block
  }

  /** Switches to another block, before its first entry; isValid becomes false. */
  load(block: Block): void {
    this.isValid = false
    this.#block = block
    this.#entriesEnd = block.entriesEnd
    this.#steps = 0
    this.valueBytes = block.bytes
  }

  seekToFirst(): void {
    const block = this.#block
    if (block === undefined) return
    this.#steps = 0
    this.#parse(block.start)
    this.#makeKey(noBytes, 0, 0)
    this.isValid = true
  }

  seekToLast(): void {
    const block = this.#block
    if (block === undefined) return
    this.#fillInterval(block.restartCount - 1)
    this.#show(this.#steps - 1)
  }

  seek(target: Uint8Array): void {
    this.isValid = false
    if (this.#block === undefined || this.locate(target, Number.MAX_SAFE_INTEGER) === 'none') return
    // The prefix that the entry shares with its predecessor is a prefix of the target, too: see locate().
    this.#makeKey(target, 0, target.length)
    this.isValid = true
  }

  seekBefore(target: Uint8Array): void {
    const block = this.#block
    this.isValid = false
    if (block === undefined) return
    this.#fillInterval(this.#restartBefore(block, target, Number.MAX_SAFE_INTEGER))
    let step = this.#steps - 1
    while (step >= 0 && this.#compareStep(step, target) >= 0) step--
    if (step >= 0) this.#show(step)
  }

  next(): void {
    const entry = this.valueEnd
    this.#steps = 0
    if (entry >= this.#entriesEnd) {
      this.isValid = false
      return
    }
    this.#parse(entry)
    this.#makeKey(this.keyBytes, this.keyStart, this.keyEnd)
  }

  previous(): void {
    const block = this.#block!
    if (this.#steps === 0) {
      const entry = this.#entry
      this.#fillInterval(block.restartBefore(entry))
      this.#step = this.#stepEntry.indexOf(entry)
      if (this.#step < 0) throw this.#corruption('the current entry is not in its restart interval')
    }
    if (this.#step > 0) {
      this.#show(this.#step - 1)
    } else if (this.#interval > 0) {
      this.#fillInterval(this.#interval - 1)
      this.#show(this.#steps - 1)
    } else {
      this.isValid = false
    }
  }

  close(): void {
    this.isValid = false
    this.#block = undefined
    this.valueBytes = noBytes
    this.keyBytes = noBytes
    this.#arena = noBytes
    this.#arenaUsed = 0
    this.#steps = 0
    this.#stepKeyBytes.length = 0
  }

  /**
   * Finds the first entry at or after (target, newest version at or before `maxSequence`) without building its key:
   * the value fields are valid, isValid and the key fields are not.
   *
   * No keys are built on the way. Let `matched` be the number of bytes that the previous key, which is too small, has
   * in common with the target:
   * (1) an entry that shares more than that with the previous key is too small for the same reason;
   * (2) otherwise its shared prefix is a prefix of the target, too, and its suffix decides.
   * @returns 'exact' at a version of the target itself, 'greater' at another key, 'none' past the block
   */
  locate(target: Uint8Array, maxSequence: number): 'exact' | 'greater' | 'none' {
    const block = this.#block!
    const { bytes } = block
    const length = target.length
    this.#steps = 0
    let matched = 0
    let entry = block.restart(this.#restartBefore(block, target, maxSequence))
    while (entry < this.#entriesEnd) {
      this.#parse(entry)
      const shared = this.#shared
      if (shared <= matched) {
        const suffixEnd = this.#suffixEnd
        let at = this.#suffixStart
        matched = shared
        while (at < suffixEnd && matched < length && bytes[at] === target[matched]) {
          at++
          matched++
        }
        if (at === suffixEnd) {
          if (matched === length && this.sequence <= maxSequence) return 'exact'
        } else if (matched === length || bytes[at]! > target[matched]!) {
          return 'greater'
        }
      }
      entry = this.valueEnd
    }
    return 'none'
  }

  /** The last restart whose entry is before (target, maxSequence); the first one if there is none. */
  #restartBefore(block: Block, target: Uint8Array, maxSequence: number): number {
    let low = 0
    let high = block.restartCount - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      this.#parse(block.restart(middle))
      const order = compareRanges(block.bytes, this.#suffixStart, this.#suffixEnd, target, 0, target.length)
      if (order < 0 || (order === 0 && this.sequence > maxSequence)) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Parses the entry at offset `entry`, except for its key. */
  #parse(entry: number): void {
    const bytes = this.valueBytes
    const end = this.#entriesEnd
    let shared = bytes[entry]!
    let unshared = bytes[entry + 1]!
    let valueLength = bytes[entry + 2]!
    let at = entry + 3
    if ((shared | unshared) >= 0x80 || valueLength >= 0x80) {
      const second = bytes[at]!
      if ((shared | unshared) < 0x80 && second < 0x80 && second > 0) {
        valueLength = (valueLength & 0x7f) | (second << 7)
        at++
      } else {
        shared = readVarint(bytes, entry, end)
        at = entry + varintBytes(shared)
        unshared = readVarint(bytes, at, end)
        at += varintBytes(unshared)
        valueLength = readVarint(bytes, at, end)
        at += varintBytes(valueLength)
        if (shared < 0 || unshared < 0 || valueLength < 0) throw this.#corruption('an entry has an invalid length')
      }
    }
    const metaAt = at
    let last = bytes[at++]!
    let meta = last & 0x7f
    for (let shift = 7; last >= 0x80 && shift < 28; shift += 7) {
      last = bytes[at++]!
      meta |= (last & 0x7f) << shift
    }
    if (last >= 0x80 || (last === 0 && at - metaAt > 1)) {
      meta = readVarint(bytes, metaAt, end)
      at = metaAt + varintBytes(meta)
      if (meta < 0) throw this.#corruption('an entry has an invalid sequence number')
    }
    const valueStart = at + unshared
    const valueEnd = valueStart + valueLength
    if (valueEnd > end) throw this.#corruption('an entry extends beyond its block')
    const kind = (meta & 1) as EntryKind
    this.#entry = entry
    this.#shared = shared
    this.#suffixStart = at
    this.#suffixEnd = valueStart
    this.kind = kind
    this.sequence = meta < 0x1000_0000 ? meta >>> 1 : (meta - kind) / 2
    this.valueStart = valueStart
    this.valueEnd = valueEnd
  }

  /**
   * Builds the key of the last parsed entry: its shared bytes from the start of prefix[start, end), then its suffix.
   */
  #makeKey(prefix: Uint8Array, start: number, end: number): void {
    const shared = this.#shared
    if (shared > end - start) throw this.#corruption('a key shares more bytes than the previous key has')
    const length = shared + this.#suffixEnd - this.#suffixStart
    let at = this.#arenaUsed
    if (at + length > this.#arena.length) {
      // Small at first: most cursors read few keys.
      const bytes = Math.min(largestArena, Math.max(smallestArena, this.#arena.length * 2))
      this.#arena = Buffer.allocUnsafeSlow(Math.max(bytes, length))
      at = 0
    }
    const arena = this.#arena
    copyBytes(prefix, start, start + shared, arena, at)
    copyBytes(this.valueBytes, this.#suffixStart, this.#suffixEnd, arena, at + shared)
    this.keyBytes = arena
    this.keyStart = at
    this.keyEnd = at + length
    this.#arenaUsed = at + length
  }

  /** Parses the interval that begins at a restart and records each entry. */
  #fillInterval(restart: number): void {
    const block = this.#block!
    const end = restart + 1 < block.restartCount ? block.restart(restart + 1) : block.entriesEnd
    let steps = 0
    this.#interval = restart
    for (let entry = block.restart(restart); entry < end; entry = this.valueEnd) {
      this.#parse(entry)
      if (steps === 0) this.#makeKey(noBytes, 0, 0)
      else this.#makeKey(this.keyBytes, this.keyStart, this.keyEnd)
      this.#stepEntry[steps] = entry
      this.#stepKeyBytes[steps] = this.keyBytes
      this.#stepKeyStart[steps] = this.keyStart
      this.#stepKeyEnd[steps] = this.keyEnd
      steps++
    }
    if (steps === 0) throw this.#corruption('restarts out of order')
    this.#steps = steps
    this.#step = steps - 1
    this.#stepEntry.length = steps
  }

  /** Moves to a recorded entry. */
  #show(step: number): void {
    this.#step = step
    this.#parse(this.#stepEntry[step]!)
    this.keyBytes = this.#stepKeyBytes[step]!
    this.keyStart = this.#stepKeyStart[step]!
    this.keyEnd = this.#stepKeyEnd[step]!
    this.isValid = true
  }

  #compareStep(step: number, target: Uint8Array): number {
    const start = this.#stepKeyStart[step]!
    return compareRanges(this.#stepKeyBytes[step]!, start, this.#stepKeyEnd[step]!, target, 0, target.length)
  }

  #corruption(what: string): Error {
    return corruption(what, this.#block!.place)
  }
}
