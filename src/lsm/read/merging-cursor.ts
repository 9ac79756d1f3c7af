/**
 * Merges sorted runs into one: by key, then by sequence number, newest first.
 *
 * The children form a binary heap whose top is the position of the merge. Moving forwards, every other child is at its
 * first entry after the position; moving backwards, at its last entry before it. A change of direction moves them to
 * the other side.
 */
import type { Block } from '../format/block.ts'
import type { BlockTest, Cursor } from '../format/cursor.ts'
import { compareRanges, EntryKind, smaller } from '../format/entry.ts'

const nothing: Uint8Array = Buffer.alloc(0)

/** A cursor over all entries of the children, which it owns. */
export function mergeCursors(children: readonly Cursor[]): Cursor {
  const [first] = children
  return children.length === 1 && first !== undefined ? first : new MergingCursor(children)
}

export class MergingCursor implements Cursor {
  readonly #children: readonly Cursor[]
  /** #heap[0, #size) are the valid children; the parent of i is at (i − 1) / 2. */
  readonly #heap: Cursor[]
  #size = 0
  #isForward = true
  /**
   * The entry that follows the top's: the current one of the first child below the top. Most steps stay within one run
   * and compare with this entry only.
   */
  #rivalBytes = nothing
  #rivalStart = 0
  #rivalEnd = 0
  #rivalSequence = 0

  constructor(children: readonly Cursor[]) {
    this.#children = children
    this.#heap = [...children]
  }

  get isValid(): boolean {
    return this.#size > 0
  }

  get keyBytes(): Uint8Array {
    return this.#size > 0 ? this.#heap[0]!.keyBytes : nothing
  }

  get keyStart(): number {
    return this.#size > 0 ? this.#heap[0]!.keyStart : 0
  }

  get keyEnd(): number {
    return this.#size > 0 ? this.#heap[0]!.keyEnd : 0
  }

  get sequence(): number {
    return this.#size > 0 ? this.#heap[0]!.sequence : 0
  }

  get kind(): EntryKind {
    return this.#size > 0 ? this.#heap[0]!.kind : EntryKind.tombstone
  }

  get valueBytes(): Uint8Array {
    return this.#size > 0 ? this.#heap[0]!.valueBytes : nothing
  }

  get valueStart(): number {
    return this.#size > 0 ? this.#heap[0]!.valueStart : 0
  }

  get valueEnd(): number {
    return this.#size > 0 ? this.#heap[0]!.valueEnd : 0
  }

  get block(): Block | undefined {
    return this.#size > 0 ? this.#heap[0]!.block : undefined
  }

  seekToFirst(): void {
    for (const child of this.#children) child.seekToFirst()
    this.#build(true)
  }

  seekToLast(): void {
    for (const child of this.#children) child.seekToLast()
    this.#build(false)
  }

  seek(target: Uint8Array): void {
    for (const child of this.#children) child.seek(target)
    this.#build(true)
  }

  seekBefore(target: Uint8Array): void {
    for (const child of this.#children) child.seekBefore(target)
    this.#build(false)
  }

  next(): void {
    if (!this.#isForward) this.#switchDirection(true)
    const top = this.#heap[0]!
    top.next()
    this.#restoreHeap(top)
  }

  previous(): void {
    if (this.#isForward) this.#switchDirection(false)
    const top = this.#heap[0]!
    top.previous()
    this.#restoreHeap(top)
  }

  /**
   * See Cursor. Skips only up to the next key of another run, which may hold an older version of a key in a skipped
   * block.
   */
  skipBlocks(mayHold: BlockTest, limit: Uint8Array | undefined): void {
    const top = this.#heap[0]!
    if (top.skipBlocks === undefined || !this.#isForward) {
      this.next()
      return
    }
    const rival = this.#size > 1 ? this.#rivalBytes.subarray(this.#rivalStart, this.#rivalEnd) : undefined
    top.skipBlocks(mayHold, smaller(limit, rival))
    this.#restoreHeap(top)
  }

  close(): void {
    this.#size = 0
    for (const child of this.#children) child.close()
  }

  /** Builds the heap from all valid children. */
  #build(isForward: boolean): void {
    this.#isForward = isForward
    this.#size = 0
    for (const child of this.#children) {
      if (child.isValid) this.#heap[this.#size++] = child
    }
    for (let parent = (this.#size >>> 1) - 1; parent >= 0; parent--) this.#siftDown(parent)
    this.#noteRival()
  }

  /** Moves all children but the top to the other side of the position. */
  #switchDirection(isForward: boolean): void {
    const top = this.#heap[0]!
    const key = top.keyBytes.subarray(top.keyStart, top.keyEnd)
    for (const child of this.#children) {
      if (child === top) continue
      if (isForward) {
        child.seek(key)
        while (child.isValid && compareEntries(child, top) <= 0) child.next()
      } else {
        // Versions of the same key that are newer than the top's come before it.
        child.seek(key)
        while (child.isValid && compareEntries(child, top) < 0) child.next()
        if (child.isValid) child.previous()
        else child.seekToLast()
      }
    }
    this.#build(isForward)
  }

  /** Restores the heap after its top has moved. */
  #restoreHeap(top: Cursor): void {
    if (top.isValid) {
      if (this.#size === 1 || this.#isBeforeRival(top)) return
    } else {
      this.#size--
      if (this.#size === 0) return
      this.#heap[0] = this.#heap[this.#size]!
    }
    this.#siftDown(0)
    this.#noteRival()
  }

  #isBeforeRival({ keyBytes, keyStart, keyEnd, sequence }: Cursor): boolean {
    const order = compareRanges(keyBytes, keyStart, keyEnd, this.#rivalBytes, this.#rivalStart, this.#rivalEnd)
    const isSmaller = order < 0 || (order === 0 && sequence > this.#rivalSequence)
    return isSmaller === this.#isForward
  }

  #noteRival(): void {
    if (this.#size < 2) return
    const heap = this.#heap
    const rival = this.#size > 2 && this.#isBefore(heap[2]!, heap[1]!) ? heap[2]! : heap[1]!
    this.#rivalBytes = rival.keyBytes
    this.#rivalStart = rival.keyStart
    this.#rivalEnd = rival.keyEnd
    this.#rivalSequence = rival.sequence
  }

  #siftDown(from: number): void {
    const heap = this.#heap
    const size = this.#size
    const moved = heap[from]!
    let at = from
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!this.#isBefore(heap[child]!, moved)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = moved
  }

  #isBefore(a: Cursor, b: Cursor): boolean {
    return this.#isForward ? compareEntries(a, b) < 0 : compareEntries(a, b) > 0
  }
}

/** Order of two entries: by key, then newest first. */
function compareEntries(a: Cursor, b: Cursor): number {
  const order = compareRanges(a.keyBytes, a.keyStart, a.keyEnd, b.keyBytes, b.keyStart, b.keyEnd)
  return order !== 0 ? order : b.sequence - a.sequence
}
