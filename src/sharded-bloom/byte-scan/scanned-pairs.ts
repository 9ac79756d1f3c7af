/**
 * The values of a scanned document for a sample: what flatten() would list, in the same order. Valid until the next scan.
 */
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
  /** By the node's number. */
  paths: readonly string[] = []

  constructor(module: ScannerModule) {
    const { TRACE, TRACE_BYTES, MAX_TRACED } = module.constants
    this.words = new Int32Array(module.u8.buffer, TRACE, (MAX_TRACED * TRACE_BYTES) / 4)
    this.bytes = module.u8
    this.counter = new SampleCounter(module)
  }

  /** A document of so many bytes was scanned, and has so many values. */
  fill(count: number, documentBytes: number): void {
    this.count = count
    this.textBytes = documentBytes
    this.counter.entries = count
  }

  /** Nodes have other paths from now on. */
  rename(paths: readonly string[]): void {
    this.counter.release()
    this.paths = paths
  }
}
