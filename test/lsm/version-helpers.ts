/** Descriptions of tables without files, for tests of versions and manifests. */
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'

/** A table of keys `first` to `last`, with sequence numbers 10 · number to 10 · number + 9. */
export function tableOf(number: number, first: string, last: string, rest: Partial<TableMeta> = {}): TableMeta {
  return {
    number,
    bytes: 100 + number,
    smallest: Buffer.from(first),
    largest: Buffer.from(last),
    smallestSequence: 10 * number,
    largestSequence: 10 * number + 9,
    entries: 10,
    tombstones: 1,
    rawBytes: 200,
    ...rest
  }
}

export function numbersOf(tables: readonly TableMeta[] | undefined): number[] {
  return (tables ?? []).map(({ number }) => number)
}
