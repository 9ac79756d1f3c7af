/** Creates a segment's tail: the one place that knows both kinds. */
import type { RowMemory } from '../../../bloom/kernels/index.ts'
import type { PairHash } from '../../pairs/pair-hash.ts'
import type { SegmentParameters } from '../segment.ts'
import type { SegmentRecord } from '../segment-record.ts'
import { BloomOpenTail } from './bloom-open.ts'
import { BloomSealedTail } from './bloom-sealed.ts'
import { FingerprintOpenTail } from './fingerprint-open.ts'
import { FingerprintSealedTail } from './fingerprint-sealed.ts'
import type { OpenTail, SealedTail, TailContext, TailFrames } from './tail.ts'

export function createOpenTail(context: TailContext, parameters: SegmentParameters): OpenTail {
  const { fingerprintBits } = parameters
  return fingerprintBits === undefined
    ? new BloomOpenTail(context, parameters)
    : new FingerprintOpenTail(context, fingerprintBits)
}

export function createSealedTail(
  memory: RowMemory,
  pairHash: PairHash,
  frames: TailFrames,
  record: SegmentRecord
): SealedTail {
  const { fingerprints } = record
  return fingerprints === undefined
    ? new BloomSealedTail(memory, pairHash, frames, record)
    : new FingerprintSealedTail(memory, frames, record, fingerprints)
}
