/**
 * The chunks of hashed rows that a restored open segment has in the store but not in memory. Each is read when the first
 * query needs it; sealing reads the rest. Most queries are for few groups of documents, so they need few chunks.
 *
 * Invariants:
 * 1. Records of complete chunks do not change before the segment is sealed or freed.
 * 2. A chunk is read once, however many queries wait for it. One that is damaged counts as read: nothing is known of its
 *    documents, and the damage is reported.
 */
import { PetalError } from '../../../model/errors.ts'
import { IndexArea, indexKey, numberOf } from '../../records/index-keys.ts'
import { EarlySeals } from '../early-seals.ts'
import { framesPerChunk } from '../geometry.ts'
import { type HashedRows, storedRowBytes } from '../hashed-rows.ts'
import { indexClosed } from '../index-closed.ts'
import { frameBytes } from '../row-cache.ts'
import { allGroups } from '../upper-level.ts'
import type { Checkpoint, TailContext } from './tail.ts'

export class StoredChunks {
  readonly #rows: HashedRows
  readonly #context: TailContext
  readonly #checkpoint: Checkpoint
  /** The groups of documents whose chunk is missing, one bit each. */
  #missing = 0
  readonly #reading = new Map<number, Promise<void>>()
  #isFreed = false

  private constructor(rows: HashedRows, context: TailContext, checkpoint: Checkpoint) {
    this.#rows = rows
    this.#context = context
    this.#checkpoint = checkpoint
  }

  /** Restores the rows, of which only the last chunk is read. @throws the checkpoint's error of damage */
  static async restore(rows: HashedRows, context: TailContext, checkpoint: Checkpoint): Promise<StoredChunks> {
    const { documents } = checkpoint.record
    const stored = new StoredChunks(rows, context, checkpoint)
    const last = Math.ceil(documents / context.geometry.chunkDocuments) - 1
    rows.restore(documents, last < 0 ? [] : await stored.#frames(last))
    for (let chunk = 0; chunk < rows.chunkCount; chunk++) {
      if (rows.isMissing(chunk)) stored.#missing |= rows.groupsOf(chunk)
    }
    return stored
  }

  /** All chunks are in memory. */
  get isComplete(): boolean {
    return this.#missing === 0
  }

  /** Loads the chunks with documents of these groups. @returns undefined if they are in memory */
  load(groups: number): Promise<void> | undefined {
    if ((this.#missing & groups) === 0) return undefined
    // Before the chunks are being read: this segment may be sealed meanwhile, which waits for those.
    const room = EarlySeals.of(this.#context.memory).makeRoom()
    return room === undefined ? this.#loadEach(groups, true) : room.then(() => this.#loadEach(groups, true))
  }

  /** Loads all chunks. */
  loadAll(): Promise<void> | undefined {
    return this.isComplete ? undefined : this.#loadEach(allGroups, false)
  }

  /** Counts a miss of the cache if a chunk with documents of these groups is missing. */
  noteUse(groups: number): void {
    if ((this.#missing & groups) !== 0) this.#checkpoint.onMiss()
  }

  /** Whoever waits for a chunk gets an error. */
  free(): void {
    this.#isFreed = true
    this.#missing = 0
  }

  /** @param mayFail chunks may stay missing for want of memory */
  async #loadEach(groups: number, mayFail: boolean): Promise<void> {
    const loading: Promise<void>[] = []
    for (let chunk = 0; chunk < this.#rows.chunkCount; chunk++) {
      if ((this.#rows.groupsOf(chunk) & this.#missing & groups) !== 0) loading.push(this.#load(chunk))
    }
    try {
      await Promise.all(loading)
    } catch (error) {
      const isOutOfMemory = error instanceof PetalError && error.codeName === 'ExceededMemoryLimit'
      if (!mayFail || !isOutOfMemory) throw error
    }
  }

  #load(chunk: number): Promise<void> {
    const before = this.#reading.get(chunk)
    if (before !== undefined) return before
    const reading = this.#read(chunk).finally(() => this.#reading.delete(chunk))
    this.#reading.set(chunk, reading)
    return reading
  }

  async #read(chunk: number): Promise<void> {
    let frames: readonly Uint8Array[] | undefined
    try {
      frames = await this.#frames(chunk)
    } catch (error) {
      if (this.#isFreed || !(error instanceof PetalError) || error.codeName !== 'IndexDamaged') throw error
      this.#checkpoint.onDamage(error.message)
    }
    if (this.#isFreed) throw indexClosed()
    this.#rows.restoreChunk(chunk, frames)
    this.#missing &= ~this.#rows.groupsOf(chunk)
  }

  /** @throws the checkpoint's error of damage */
  async #frames(chunk: number): Promise<readonly Uint8Array[]> {
    const { record, store, damaged } = this.#checkpoint
    const { geometry } = this.#context
    const { chunkDocuments, rowsPerFrame } = geometry
    const { firstOrdinal } = record
    const frameCount = framesPerChunk(record.shards, geometry)
    const documents = Math.min(chunkDocuments, record.documents - chunk * chunkDocuments)
    const least = rowsPerFrame * storedRowBytes(documents)
    const frames: Uint8Array[] = []
    const from = indexKey(IndexArea.chunkRows, firstOrdinal, chunk)
    for await (const [key, value] of store.scan(from, indexKey(IndexArea.chunkRows, firstOrdinal, chunk + 1))) {
      const frame = numberOf(key, 1)
      const isWhole = value.length > 0 && value.length <= frameBytes && value.length % (8 * rowsPerFrame) === 0
      if (frame === undefined || !isWhole) throw damaged('a chunk record has an invalid key or size')
      // Frames beyond these are of other parameters: a crash came before they were cleared.
      if (frame < frameCount) frames[frame] = value
    }
    for (let frame = 0; frame < frameCount; frame++) {
      const bytes = frames[frame]
      if (bytes === undefined) throw damaged(`frame ${frame} of chunk ${chunk} is missing`)
      if (bytes.length < least) throw damaged(`frame ${frame} of chunk ${chunk} is too short`)
    }
    return frames
  }
}
