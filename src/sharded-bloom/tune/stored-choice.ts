/**
 * The record that keeps a tuning choice: what is chosen for the segments to come, and for the next rebuild.
 *
 * Invariants:
 * 1. It is in no area that building the index again clears (see index-keys.ts): the choice outlives the index it was
 *    made on.
 * 2. Parameters can be chosen without it. A record that is absent, damaged or of a later version changes nothing.
 */
import { PetalError } from '../../model/errors.ts'
import type { IndexStore } from '../document-index.ts'
import type { TailKind } from '../segment/tail/tail.ts'
import { checkTuning, type TuningChoices } from './tuning.ts'

const choiceKey = Uint8Array.of(0x74)

/** What a choice decides; ranges and everything else remain what they are. */
export interface StoredChoice {
  readonly tail: TailKind
  readonly rowsPerPair: number
  readonly bitsPerPosting: number
  readonly privateShare: number
  readonly upperLevel: boolean
}

/** @param store whose records carry checksums, see checked-store.ts */
export async function readChoice(store: IndexStore): Promise<StoredChoice | undefined> {
  const bytes = await store.get(choiceKey)
  if (bytes === undefined) return undefined
  try {
    const stored = JSON.parse(new TextDecoder().decode(bytes)) as Partial<StoredChoice>
    const choice = checkTuning({ ...stored, shards: 'auto' })
    const { tail, rowsPerPair, bitsPerPosting, privateShare, upperLevel } = choice
    return rowsPerPair === 'auto' ? undefined : { tail, rowsPerPair, bitsPerPosting, privateShare, upperLevel }
  } catch (error) {
    // What checkTuning refuses, or what is not JSON, was written by a version that knows other choices.
    if (error instanceof SyntaxError || error instanceof PetalError) return undefined
    throw error
  }
}

export async function writeChoice(store: IndexStore, choice: StoredChoice): Promise<void> {
  const { tail, rowsPerPair, bitsPerPosting, privateShare, upperLevel } = choice
  // A version that knows no other tail goes on with Bloom filters.
  const other = tail === 'bloom' ? undefined : tail
  const text = JSON.stringify({ rowsPerPair, bitsPerPosting, privateShare, upperLevel, tail: other })
  await store.write([{ key: choiceKey, value: new TextEncoder().encode(text) }])
}

/** The options of an index: those that its caller spelled out, then those that were chosen. */
export function withChoice(options: TuningChoices, choice: StoredChoice | undefined): TuningChoices {
  if (choice === undefined) return options
  const { tail, rowsPerPair, bitsPerPosting, privateShare, upperLevel } = options
  return {
    ...options,
    tail: tail ?? choice.tail,
    rowsPerPair: rowsPerPair === undefined || rowsPerPair === 'auto' ? choice.rowsPerPair : rowsPerPair,
    bitsPerPosting: bitsPerPosting ?? choice.bitsPerPosting,
    privateShare: privateShare ?? choice.privateShare,
    upperLevel: upperLevel ?? choice.upperLevel
  }
}
