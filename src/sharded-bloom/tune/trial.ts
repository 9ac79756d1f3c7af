/**
 * A real index over the sample: its segments are filled, sealed and read like a collection's, with the records in
 * memory. It measures what a collection would have, rather than modelling it.
 */
import { rowMemory } from '../../bloom/kernels/index.ts'
import { PetalError } from '../../model/errors.ts'
import type { PairExpression } from '../../model/pairs.ts'
import type { SegmentCandidates } from '../document-index.ts'
import { geometryOf } from '../segment/geometry.ts'
import { LiveBitmap } from '../segment/live.ts'
import { OpenSegment } from '../segment/open-segment.ts'
import { frameBytes, RowCache } from '../segment/row-cache.ts'
import { sealSegment } from '../segment/seal.ts'
import { type SealedContext, SealedSegment } from '../segment/sealed-segment.ts'
import type { SegmentParameters } from '../segment/segment.ts'
import { SegmentHandle } from '../segment/segment-handle.ts'
import { encodeSegmentRecord, type SegmentBytes } from '../segment/segment-record.ts'
import { ShardedView } from '../view.ts'
import { MemoryStore } from './memory-store.ts'
import type { TuneSample } from './sample.ts'

/** Large enough for reading everything from memory, as in a warm index. */
const cacheBytes = 256 << 20

/** Bytes per document, in a full segment. */
export interface TrialBytes {
  /** With all fingerprints. */
  readonly hashedRows: number
  readonly privateRows: number
  readonly rangeCodes: number
  readonly upperLevel: number
  readonly directory: number
  readonly total: number
}

export class Trial {
  readonly bytes: TrialBytes
  readonly #handles: readonly SegmentHandle[]
  readonly #view: ShardedView

  private constructor(bytes: TrialBytes, handles: readonly SegmentHandle[], view: ShardedView) {
    this.bytes = bytes
    this.#handles = handles
    this.#view = view
  }

  /** @param segmentDocuments M */
  static async build(
    sample: TuneSample,
    parameters: SegmentParameters,
    segmentDocuments: number,
    signal?: AbortSignal
  ): Promise<Trial> {
    const memory = rowMemory()
    const cache = new RowCache(memory, cacheBytes)
    const { pairHash } = sample
    const store = new MemoryStore()
    const context: SealedContext = { memory, cache, store, pairHash, onDamage: refuseDamage }
    const geometry = geometryOf(segmentDocuments)
    const handles: SegmentHandle[] = []
    let open: OpenSegment | undefined
    const tally = new ByteTally(segmentDocuments)
    const seal = async (segment: OpenSegment): Promise<void> => {
      const record = await sealSegment(segment, store, memory, 0)
      tally.add(
        record.bytes,
        encodeSegmentRecord(record).length + record.bytes.pairTable,
        record.documents,
        parameters.upperFrames
      )
      handles.push(new SegmentHandle(new SealedSegment(context, record), new LiveBitmap(segmentDocuments)))
      segment.free()
    }
    try {
      for (let first = 0; first < sample.size; first += segmentDocuments) {
        open = new OpenSegment(memory, geometry, pairHash, first, parameters)
        const segment = open
        await sample.eachDocument((flat) => segment.add(flat), signal, first, first + segmentDocuments)
        await seal(segment)
        open = undefined
      }
    } catch (error) {
      open?.free()
      for (const handle of handles) handle.segment.free()
      throw error
    }
    return new Trial(tally.perDocument(), handles, new ShardedView({ memory, cache, pairHash }, handles, sample.size))
  }

  get segments(): number {
    return this.#handles.length
  }

  /** Returns the candidates, segment by segment. */
  evaluate(expression: PairExpression): SegmentCandidates[] {
    return this.#handles.map((_, segment) => {
      const candidates = this.#view.evaluate(segment, expression)
      if (candidates instanceof Promise) throw new PetalError('InternalError', 'A trial must be read from memory')
      return candidates
    })
  }

  /** Frees the rows. */
  free(): void {
    for (const handle of this.#handles) handle.segment.free()
  }
}

class ByteTally {
  readonly #segmentDocuments: number
  #documents = 0
  #hashedRows = 0
  #privateRows = 0
  #rangeCodes = 0
  #directory = 0
  #segments = 0
  #upperFrames = 0

  constructor(segmentDocuments: number) {
    this.#segmentDocuments = segmentDocuments
  }

  add(
    bytes: Pick<SegmentBytes, 'hashedRows' | 'fingerprints' | 'privateRows' | 'rangeCodes'>,
    directory: number,
    documents: number,
    upperFrames: number
  ): void {
    this.#documents += documents
    this.#hashedRows += bytes.hashedRows + bytes.fingerprints
    this.#privateRows += bytes.privateRows
    this.#rangeCodes += bytes.rangeCodes
    this.#directory += directory
    this.#upperFrames = upperFrames
    this.#segments++
  }

  /** Directory and upper level do not shrink in a segment that is not full: they are divided by M documents. */
  perDocument(): TrialBytes {
    const of = (bytes: number): number => bytes / Math.max(1, this.#documents)
    const upperLevel = (this.#upperFrames * frameBytes) / this.#segmentDocuments
    const directory = this.#directory / Math.max(1, this.#segments) / this.#segmentDocuments
    const [hashedRows, privateRows, rangeCodes] = [of(this.#hashedRows), of(this.#privateRows), of(this.#rangeCodes)]
    const total = hashedRows + privateRows + rangeCodes + upperLevel + directory
    return { hashedRows, privateRows, rangeCodes, upperLevel, directory, total }
  }
}

function refuseDamage(message: string): void {
  throw new PetalError('InternalError', `A trial cannot be damaged: ${message}`)
}
