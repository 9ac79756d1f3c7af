/** The values of a scanned document, for a sample, in the order of flatten(). Valid until the next scan. */
import type { PairList } from '../tune/pair-list.ts'
import { SampleCounter } from './sample-counter.ts'
import type { ScannerModule } from './scanner-module.ts'

const noKeys: readonly never[] = []

export class ScannedPairs implements PairList {
  count = 0
  textBytes = 0
  readonly words: Int32Array
  readonly bytes: Uint8Array
  readonly keys = noKeys
  readonly counter: SampleCounter
  /** By node number. */
  paths: readonly string[] = []

  constructor(module: ScannerModule) {
    const { TRACE, TRACE_BYTES, MAX_TRACED } = module.constants
    this.words = new Int32Array(module.u8.buffer, TRACE, (MAX_TRACED * TRACE_BYTES) / 4)
    this.bytes = module.u8
    this.counter = new SampleCounter(module)
  }

  /** Sets the number of values of the document just scanned. */
  fill(count: number, documentBytes: number): void {
    this.count = count
    this.textBytes = documentBytes
    this.counter.entries = count
  }

  /** Replaces the nodes' paths. */
  rename(paths: readonly string[]): void {
    this.counter.evictOwner()
    this.paths = paths
  }
}
