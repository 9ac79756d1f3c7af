/**
 * What of a collection's state a bulk load has changed: a record that is stored together with the load's documents, and
 * deleted by the first batch that has it in the state it writes.
 *
 * | key in the area of the index | value                                              |
 * | ---------------------------- | -------------------------------------------------- |
 * | `a` ordinal(8)               | `{ nextOrdinal, documents, documentBytes }`, JSON  |
 *
 * Invariant: what is counted is the state and every such record that is there, each once.
 */
import type { CollectionState } from '../write/write-batch.ts'
import { ordinalSuffix } from './layout.ts'

/** `a`: no area of the index has it (sharded-bloom/records/index-keys.ts). */
const letter = 0x61

/** Every key is in [from, to). */
export const loadKeys: readonly [from: Uint8Array, to: Uint8Array] = [Uint8Array.of(letter), Uint8Array.of(letter + 1)]

export interface LoadRecord {
  /** Every ordinal of the load is below it. */
  readonly nextOrdinal: number
  readonly documents: number
  readonly documentBytes: number
}

/** Of the load that begins at the ordinal. */
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

export function decodeLoad(value: Uint8Array): LoadRecord {
  return JSON.parse(new TextDecoder().decode(value)) as LoadRecord
}

export function withLoad(state: CollectionState, load: LoadRecord): CollectionState {
  return {
    ...state,
    nextOrdinal: Math.max(state.nextOrdinal, load.nextOrdinal),
    documents: state.documents + load.documents,
    documentBytes: state.documentBytes + load.documentBytes
  }
}
