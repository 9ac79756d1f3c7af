/** Builds tables for tests: arbitrary entries and options, and a file in memory that tests can damage. */
import fc from 'fast-check'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import type { SectionCollector } from '../../src/lsm/format/section-collector.ts'
import { Table } from '../../src/lsm/format/table.ts'
import { TableBuilder } from '../../src/lsm/format/table-builder.ts'
import type { TableWriteOptions } from '../../src/lsm/format/table-options.ts'
import type { OpenFile } from '../../src/lsm/fs/file-system.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { compareEntries, operations, type TestEntry } from './cursor-cases.ts'

/** A file that is an array of bytes. */
export class BytesFile implements OpenFile {
  readonly path = 'memory/000007.sst'
  bytes: Buffer = Buffer.alloc(0)
  isClosed = false
  reads = 0
  readBytes = 0

  constructor(bytes?: Buffer) {
    if (bytes !== undefined) this.bytes = bytes
  }

  read(target: Uint8Array, position: number): number {
    this.reads++
    this.readBytes += target.length
    const there = this.bytes.subarray(position, position + target.length)
    target.set(there)
    return there.length
  }

  async prepareRead(): Promise<void> {}

  write(bytes: Uint8Array, position: number): void {
    const grown = Buffer.alloc(Math.max(this.bytes.length, position + bytes.length))
    grown.set(this.bytes)
    grown.set(bytes, position)
    this.bytes = grown
  }

  size(): number {
    return this.bytes.length
  }

  isAt(): boolean {
    return false
  }

  truncate(bytes: number): void {
    this.bytes = Buffer.from(this.bytes.subarray(0, bytes))
  }

  async sync(): Promise<void> {}

  syncNow(): void {}

  close(): void {
    this.isClosed = true
  }
}

export const usualOptions: TableWriteOptions = {
  blockBytes: 4096,
  restartInterval: 16,
  codec: 'lz4',
  keyFilterBits: 10,
  values: undefined
}

/** From one entry per block to all entries in one. */
export const tableOptions: fc.Arbitrary<TableWriteOptions> = fc.record({
  blockBytes: fc.constantFrom(1, 20, 64, 300, 4096),
  restartInterval: fc.constantFrom(1, 2, 3, 16),
  codec: fc.constantFrom('none' as const, 'lz4' as const),
  keyFilterBits: fc.constantFrom(0, 1.5, 9.5, 24),
  values: fc.constant(undefined)
})

/** At least one entry, sorted; many versions of few keys, some of them with values that compress. */
export const tableEntries: fc.Arbitrary<readonly TestEntry[]> = fc
  .tuple(fc.array(operations, { minLength: 1, maxLength: 4 }), fc.nat(2 ** 40), fc.constantFrom(1, 1, 40))
  .map(([batches, firstSequence, repetitions]) =>
    batches
      .flat()
      .map((operation, index) => ({
        ...operation,
        value: Buffer.from(operation.value.toString('latin1').repeat(repetitions), 'latin1'),
        sequence: firstSequence + index
      }))
      .sort(compareEntries)
  )
  .filter((entries) => entries.length > 0)

export interface BuiltTable {
  readonly file: BytesFile
  readonly meta: TableMeta
}

export function buildTable(
  entries: Iterable<TestEntry>,
  options: TableWriteOptions = usualOptions,
  collector?: SectionCollector,
  afterEach?: (builder: TableBuilder) => void
): BuiltTable {
  const file = new BytesFile()
  const builder = new TableBuilder(file, 7, options, collector)
  for (const { key, sequence, kind, value } of entries) {
    // Keys and values lie within larger buffers, as those of memtables and blocks do.
    const around = Buffer.concat([Buffer.from('<<'), key, Buffer.from('=='), value, Buffer.from('>>')])
    const valueStart = key.length + 4
    builder.add({
      keyBytes: around,
      keyStart: 2,
      keyEnd: 2 + key.length,
      sequence,
      kind,
      valueBytes: around,
      valueStart,
      valueEnd: valueStart + value.length
    })
    around.fill(0xee)
    afterEach?.(builder)
  }
  return { file, meta: builder.finish() }
}

export function openTable(built: BuiltTable, cache: BlockCache = new BlockCache(1 << 20)): Table {
  return Table.open(built.file, built.meta, cache)
}
