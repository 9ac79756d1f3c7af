/** Selects the keys that clearing a range may delete: those not written to since it began. */
import { toText } from '../../model/key-text.ts'
import type { Engine } from './engine.ts'
import { isUnchangedSince } from './point-reads.ts'

/** Tells whether a key is wanted; valid until the next event-loop turn. */
export type KeyTest = (key: Uint8Array) => boolean

/**
 * Selects keys whose newest version has a sequence number ≤ `sequence` and that have no pending write: a write that
 * waits for the device precedes any tombstone added now, which would hide it.
 * @returns a function to call before each batch of tombstones
 */
export function unchangedSince(engine: Engine, sequence: number): () => KeyTest {
  return () => {
    const isUnchanged = isUnchangedSince(engine, sequence)
    const waiting = new Set<string>()
    engine.visitPendingKeys((key) => waiting.add(toText(key)))
    if (waiting.size === 0) return isUnchanged
    return (key) => !waiting.has(toText(key)) && isUnchanged(key)
  }
}
