/**
 * The change of a collection's state by a bulk load: a record that is stored together with the load's documents, and
 * deleted by the first batch whose state includes it.
 *
 * | key in the area of the index | value                                              |
 * | ---------------------------- | -------------------------------------------------- |
 * | `a` ordinal(8)               | `{ nextOrdinal, documents, documentBytes }`, JSON  |
 *
 * Invariant: the current state is the stored state plus all such records in the store, each counted once.
 */
import type { CollectionState } from '../write/write-batch.ts'
import { objectIn } from './catalog-records.ts'
import { ordinalSuffix } from './layout.ts'

/** `a`: unused by the other areas of the index (sharded-bloom/records/index-keys.ts). */
const letter = 0x61

/** All keys are in [from, to), which begins behind the letter alone for the reason of recordsOf() (index-keys.ts). */
export const loadKeys: readonly [from: Uint8Array, to: Uint8Array] = [
  Uint8Array.of(letter, 0),
  Uint8Array.of(letter + 1)
]

export interface LoadRecord {
  /** All ordinals of the load are below this. */
  readonly nextOrdinal: number
  readonly documents: number
  readonly documentBytes: number
}

/** Returns the key of the load that starts at the ordinal. */
export function loadKey(firstOrdinal: number): Uint8Array {
  const ordinal = ordinalSuffix(firstOrdinal)
  const key = new Uint8Array(1 + ordinal.length)
  key[0] = letter
  key.set(ordinal, 1)
  return key
}

export function encodeLoad({ nextOrdinal, documents, documentBytes }: LoadRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ nextOrdinal, documents, documentBytes }))
}

/** What a malformed record lacks makes the state that includes it unsound (sound-state.ts). */
export function decodeLoad(value: Uint8Array): LoadRecord {
  return (objectIn(new TextDecoder().decode(value)) ?? {}) as unknown as LoadRecord
}

export function withLoad(state: CollectionState, load: LoadRecord): CollectionState {
  return {
    ...state,
    nextOrdinal: Math.max(state.nextOrdinal, load.nextOrdinal),
    documents: state.documents + load.documents,
    documentBytes: state.documentBytes + load.documentBytes
  }
}
