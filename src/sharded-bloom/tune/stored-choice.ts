/**
 * The record of a tuning choice: the parameters for future segments and the next rebuild.
 *
 * Invariants:
 * 1. It is in no area that rebuilding the index clears (see index-keys.ts): the choice outlives the index it was made
 *    for.
 * 2. Parameters can be chosen without it. A record that is absent, damaged or of a later version changes nothing.
 */
import { PetalError } from '../../model/errors.ts'
import type { IndexStore } from '../document-index.ts'
import type { TailKind } from '../segment/tail/tail.ts'
import { checkTuning, type TuningChoices } from './tuning-options.ts'

const choiceKey = Uint8Array.of(0x74)

/** The options that a choice decides; ranges and all others stay as they are. */
export interface StoredChoice {
  readonly tail: TailKind
  readonly rowsPerPair: number
  readonly bitsPerPosting: number
  readonly privateShare: number
  readonly upperLevel: boolean
}

/** @param store with checksums on its records, see checked-store.ts */
export async function readChoice(store: IndexStore): Promise<StoredChoice | undefined> {
  const bytes = await store.get(choiceKey)
  if (bytes === undefined) return undefined
  try {
    const stored = JSON.parse(new TextDecoder().decode(bytes)) as Partial<StoredChoice>
    const choice = checkTuning({ ...stored, shards: 'auto' })
    const { tail, rowsPerPair, bitsPerPosting, privateShare, upperLevel } = choice
    return rowsPerPair === 'auto' ? undefined : { tail, rowsPerPair, bitsPerPosting, privateShare, upperLevel }
  } catch (error) {
    // Not JSON, or rejected by checkTuning(): written by a version with other choices.
    if (error instanceof SyntaxError || error instanceof PetalError) return undefined
    throw error
  }
}

export async function writeChoice(store: IndexStore, choice: StoredChoice): Promise<void> {
  const { tail, rowsPerPair, bitsPerPosting, privateShare, upperLevel } = choice
  // Omitted for 'bloom'; a version without other tails continues with Bloom filters.
  const other = tail === 'bloom' ? undefined : tail
  const text = JSON.stringify({ rowsPerPair, bitsPerPosting, privateShare, upperLevel, tail: other })
  await store.write([{ key: choiceKey, value: new TextEncoder().encode(text) }])
}

/** Returns an index's options: those that its caller specified, then the chosen ones. */
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
