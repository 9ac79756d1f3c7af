/** Builds block payloads (block.ts) one after another, directly in the output buffer. */
import { copyBytes } from '../../model/copy-bytes.ts'
import { writeU32 } from './bytes.ts'
import type { EntryRanges } from './entry.ts'
import type { TableOutput } from './table-output.ts'
import { maxVarintBytes, writeVarint } from './varint.ts'

/** Maximum size of an entry without its key and value. */
const maxHeaderBytes = 4 * maxVarintBytes

export class BlockBuilder {
  readonly #output: TableOutput
  readonly #restartInterval: number
  /** Offset of the block in the output's bytes. */
  #start = 0
  readonly #restarts: number[] = []
  #sinceRestart = 0

  constructor(output: TableOutput, restartInterval: number) {
    this.#output = output
    this.#restartInterval = Math.max(1, restartInterval)
  }

  get isEmpty(): boolean {
    return this.#restarts.length === 0
  }

  /** Offset of the block in the output's bytes. */
  get start(): number {
    return this.#start
  }

  /** Current size of the payload; 0 if empty. */
  get payloadBytes(): number {
    return this.isEmpty ? 0 : this.#output.length - this.#start + 4 * this.#restarts.length + 4
  }

  /** @param shared length of the prefix that the key has in common with the previous one */
  add(entry: EntryRanges, shared: number): void {
    const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = entry
    const output = this.#output
    if (this.isEmpty) this.#start = output.length
    output.reserve(maxHeaderBytes + keyEnd - keyStart + valueEnd - valueStart)
    const isRestart = this.isEmpty || this.#sinceRestart === this.#restartInterval
    if (isRestart) {
      this.#restarts.push(output.length - this.#start)
      this.#sinceRestart = 0
    }
    this.#sinceRestart++
    const kept = isRestart ? 0 : shared
    const { bytes } = output
    let at = writeVarint(bytes, output.length, kept)
    at = writeVarint(bytes, at, keyEnd - keyStart - kept)
    at = writeVarint(bytes, at, valueEnd - valueStart)
    at = writeVarint(bytes, at, entry.sequence * 2 + entry.kind)
    copyBytes(keyBytes, keyStart + kept, keyEnd, bytes, at)
    at += keyEnd - keyStart - kept
    copyBytes(valueBytes, valueStart, valueEnd, bytes, at)
    output.length = at + valueEnd - valueStart
  }

  /** Ends the payload; the next entry begins a new one. REQUIRES: not empty. */
  finish(): void {
    const output = this.#output
    const restarts = this.#restarts
    output.reserve(4 * restarts.length + 4)
    for (const restart of restarts) {
      writeU32(output.bytes, output.length, restart)
      output.length += 4
    }
    writeU32(output.bytes, output.length, restarts.length)
    output.length += 4
    restarts.length = 0
  }
}
