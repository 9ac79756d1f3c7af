/** Which tail a segment has: the one place that knows which there are. */
import type { RowMemory } from '../../../bloom/kernels/index.ts'
import type { PairHash } from '../../pairs/pair-hash.ts'
import type { SegmentParameters } from '../segment.ts'
import type { SegmentRecord } from '../segment-record.ts'
import { BloomOpenTail } from './bloom-open.ts'
import { BloomSealedTail } from './bloom-sealed.ts'
import type { OpenTail, SealedTail, TailContext, TailFrames } from './tail.ts'

export function createOpenTail(context: TailContext, parameters: SegmentParameters): OpenTail {
  return new BloomOpenTail(context, parameters)
}

export function createSealedTail(
  memory: RowMemory,
  pairHash: PairHash,
  frames: TailFrames,
  record: SegmentRecord
): SealedTail {
  return new BloomSealedTail(memory, pairHash, frames, record)
}
