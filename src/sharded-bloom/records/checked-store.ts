/**
 * Stores the index's records with a checksum: content, then checksum(content, checksum(key, 0)), u32 little-endian.
 *
 * Invariants:
 * 1. No damaged record is ever taken for a sound one, nor one record for another: a flipped bit in a row would hide a
 *    document, and no higher layer could notice.
 * 2. A dead mark is its key alone, without content or checksum, so that the document store can write it.
 * 3. The checksum format never changes: a later version's header has to be distinguishable from a damaged one.
 */
import { rowMemory } from '../../bloom/kernels/index.ts'
import { PetalError } from '../../model/errors.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { IndexStore, IndexWrite } from '../document-index.ts'
import { checksum } from './checksum.ts'
import { IndexArea } from './index-keys.ts'
import { readTransient } from './read-transient.ts'
import { ScratchArena } from './scratch-arena.ts'

const checksumBytes = 4
/** Checksums of more bytes than this are computed in slices. */
const bytesAtOnce = 64 * 1024

export class CheckedStore implements IndexStore {
  readonly #store: IndexStore

  constructor(store: IndexStore) {
    this.#store = store
  }

  /** Returns undefined for an absent or a damaged record: the index treats both alike. */
  get(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    return contentRead(key, this.#store.get(key))
  }

  getTransient(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    return contentRead(key, readTransient(this.#store, key))
  }

  /** The values must not change until the promise settles; the underlying store copies its values earlier. */
  write(operations: readonly IndexWrite[]): Promise<void> {
    let bytes = 0
    for (const { value } of operations) bytes += value?.length ?? 0
    if (bytes > bytesAtOnce) return this.#writeInSlices(operations)
    const arena = new ScratchArena()
    const written = this.#store.write(operations.map((operation) => checked(operation, arena)))
    arena.close()
    return written
  }

  async #writeInSlices(operations: readonly IndexWrite[]): Promise<void> {
    const arena = new ScratchArena()
    const writes: IndexWrite[] = []
    const timeSlice = new TimeSlice()
    for (const operation of operations) {
      writes.push(checked(operation, arena))
      if (timeSlice.isOver()) await timeSlice.renew()
    }
    const written = this.#store.write(writes)
    arena.close()
    await written
  }

  clear(from: Uint8Array, to: Uint8Array): Promise<void> {
    return this.#store.clear(from, to)
  }

  /** @throws PetalError IndexDamaged on a damaged record */
  async *scan(from: Uint8Array, to: Uint8Array): AsyncGenerator<readonly [key: Uint8Array, value: Uint8Array]> {
    for await (const [key, stored] of this.#store.scan(from, to)) {
      const content = key[0] === IndexArea.dead ? stored : contentOf(key, stored)
      if (content === undefined) {
        throw new PetalError('IndexDamaged', `The record ${hex(key)} of the index is damaged`)
      }
      yield [key, content]
    }
  }
}

function checked({ key, value }: IndexWrite, arena: ScratchArena): IndexWrite {
  return { key, value: value === undefined ? undefined : withChecksum(key, value, arena) }
}

function withChecksum(key: Uint8Array, content: Uint8Array, arena: ScratchArena): Uint8Array {
  const { length } = content
  const stored = arena.take(length + checksumBytes)
  stored.set(content)
  const sum = recordChecksum(key, content)
  stored[length] = sum
  stored[length + 1] = sum >>> 8
  stored[length + 2] = sum >>> 16
  stored[length + 3] = sum >>> 24
  return stored
}

/** Uses the kernel, which needs no warm-up, if the record fits in scratch. */
function recordChecksum(key: Uint8Array, content: Uint8Array): number {
  const memory = rowMemory()
  const { kernels, u8, scratch, scratchEnd } = memory
  if (key.length + content.length > scratchEnd - scratch) return checksum(content, checksum(key, 0))
  u8.set(key, scratch)
  const seed = kernels.checksum(scratch, key.length, 0)
  u8.set(content, scratch)
  return kernels.checksum(scratch, content.length, seed) >>> 0
}

function contentRead(key: Uint8Array, stored: ReturnType<IndexStore['get']>): ReturnType<IndexStore['get']> {
  return stored instanceof Promise ? stored.then((bytes) => contentOf(key, bytes)) : contentOf(key, stored)
}

function contentOf(key: Uint8Array, stored: Uint8Array | undefined): Uint8Array | undefined {
  if (stored === undefined || stored.length < checksumBytes) return undefined
  const content = stored.subarray(0, stored.length - checksumBytes)
  const expected = new DataView(stored.buffer, stored.byteOffset).getUint32(content.length, true)
  return recordChecksum(key, content) === expected ? content : undefined
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
