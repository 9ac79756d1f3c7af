/** Which keys a range that is being cleared may lose: those that nobody has written to since it began. */
import { toText } from '../../model/key-text.ts'
import type { Engine } from './engine.ts'
import { isUnchangedSince } from './point-reads.ts'

/** Says, until another turn, whether a key is wanted. */
export type KeyTest = (key: Uint8Array) => boolean

/**
 * Keys whose newest version was there at a sequence number, and to which nothing is about to be written: what waits for
 * the device has its place before any tombstone that comes now, and would be hidden by it.
 * @returns to be called before each batch of tombstones
 */
export function unchangedSince(engine: Engine, sequence: number): () => KeyTest {
  return () => {
    const isUnchanged = isUnchangedSince(engine, sequence)
    const waiting = new Set<string>()
    engine.visitWaiting((key) => waiting.add(toText(key)))
    if (waiting.size === 0) return isUnchanged
    return (key) => !waiting.has(toText(key)) && isUnchanged(key)
  }
}
