/** Creates a segment's tail: the one place that knows all kinds. */
import type { RowMemory } from '../../../bloom/kernels/index.ts'
import type { PairHash } from '../../pairs/pair-hash.ts'
import type { SegmentParameters } from '../segment.ts'
import type { SegmentRecord } from '../segment-record.ts'
import { BloomOpenTail } from './bloom-open.ts'
import { BloomSealedTail } from './bloom-sealed.ts'
import { FingerprintOpenTail } from './fingerprint-open.ts'
import { FingerprintSealedTail } from './fingerprint-sealed.ts'
import { SplitOpenTail } from './split-open.ts'
import { LaterFrames, SplitSealedTail } from './split-sealed.ts'
import type { OpenTail, SealedTail, TailContext, TailFrames } from './tail.ts'

export function createOpenTail(context: TailContext, parameters: SegmentParameters): OpenTail {
  const { fingerprintBits, crowdedPairs } = parameters
  if (fingerprintBits !== undefined) return new FingerprintOpenTail(context, fingerprintBits)
  const rows = new BloomOpenTail(context, parameters)
  return crowdedPairs === undefined ? rows : new SplitOpenTail(context, rows, crowdedPairs)
}

export function createSealedTail(
  memory: RowMemory,
  pairHash: PairHash,
  frames: TailFrames,
  record: SegmentRecord
): SealedTail {
  const { fingerprints, crowded } = record
  if (fingerprints !== undefined) return new FingerprintSealedTail(memory, frames, record, fingerprints)
  const rows = new BloomSealedTail(memory, pairHash, frames, record)
  if (crowded === undefined) return rows
  const later = new LaterFrames(frames, rows.frameCount)
  return new SplitSealedTail(rows, new FingerprintSealedTail(memory, later, record, crowded))
}
