/** The part of a scanner's memory in which a sample is counted, by one sample at a time. */
import type { CounterOwner, PairCounter, SampleArrays } from '../tune/pair-counter.ts'
import type { ScannerFunctions, ScannerModule } from './scanner-module.ts'

export class SampleCounter implements PairCounter {
  readonly #functions: ScannerFunctions
  #owner: CounterOwner | undefined
  readonly arrays: SampleArrays
  readonly maxMembers: number
  readonly members: Int32Array
  memberCount = 0
  uncounted = 0
  textBytes = 0
  /** Number of values of the document last scanned. */
  entries = 0

  constructor({ functions, constants, u8 }: ScannerModule) {
    const { buffer } = u8
    const { MAX_SAMPLE_PAIRS, MAX_SAMPLE_TEXT_BYTES, MAX_SAMPLE_MEMBERS } = constants
    this.#functions = functions
    this.arrays = {
      slots: new Int32Array(buffer, constants.SAMPLE_SLOTS, 2 * MAX_SAMPLE_PAIRS),
      pairs: new Int32Array(buffer, constants.SAMPLE_PAIRS, 4 * MAX_SAMPLE_PAIRS),
      values: new Int32Array(buffer, constants.SAMPLE_VALUES, 4 * MAX_SAMPLE_PAIRS),
      texts: new Uint8Array(buffer, constants.SAMPLE_TEXTS, MAX_SAMPLE_TEXT_BYTES)
    }
    this.maxMembers = MAX_SAMPLE_MEMBERS
    this.members = new Int32Array(buffer, constants.SAMPLE_MEMBERS, MAX_SAMPLE_MEMBERS)
  }

  acquire(owner: CounterOwner): void {
    this.evictOwner()
    this.#owner = owner
  }

  release(owner: CounterOwner): void {
    if (this.#owner === owner) this.#owner = undefined
  }

  /** Makes the owner leave: the arrays, or the path numbers, are about to change. */
  evictOwner(): void {
    const owner = this.#owner
    this.#owner = undefined
    owner?.detach()
  }

  count(
    document: number,
    size: number,
    slots: number,
    textBytes: number,
    maxMembers: number,
    maxUnits: number
  ): number {
    const functions = this.#functions
    const pairs = functions.countSample(this.entries, document, size, slots - 1, textBytes, maxMembers, maxUnits)
    this.memberCount = functions.sampledMembers()
    this.uncounted = functions.uncountedEntries()
    this.textBytes = functions.sampledTextBytes()
    return pairs
  }

  rehash(size: number, slots: number): void {
    this.#functions.rehashSample(size, slots)
  }
}
