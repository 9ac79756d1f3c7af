/**
 * Which filter index? Microseconds to find that a value is in no table, to insert a table's filter and to remove it,
 * and memory, for filters of 2^16 bits with 7 hashes and 6,500 values (0.8 % false positives).
 *
 * Data: `disjoint` tables have nothing in common; of `clustered` ones, 64 neighbours share 98 % of their values, like
 * tables that compaction has put in key order; `common` tables have 500 values out of 100,000 each.
 *
 * Run: node --import tsx bench/filter-index.ts [--large]
 */
import { BitSet } from '../src/bloom/bit-set.ts'
import { createFilterIndex, type FilterIndex } from '../src/bloom/filter-index/filter-index.ts'
import { TreeFilterIndex } from '../src/bloom/filter-index/tree.ts'
import type { Inner } from '../src/bloom/filter-index/tree-node.ts'
import { rowNumbers } from '../src/bloom/hash.ts'
import { banner, spreadOf } from './spread.ts'

const bits = 2 ** 16
const hashes = 7
const kinds = ['linear', 'tree', 'sliced'] as const
const rounds = 7
const millisecondsPerRound = 60
const samples = 64

const positions = new Int32Array(hashes)

/** Bit positions of a value. */
function positionsOf(value: number): Int32Array {
  const mixed = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  rowNumbers(mixed ^ (mixed >>> 12), Math.imul(value, 0x85ebca6b) ^ 0x5bd1e995, bits, hashes, positions)
  return positions
}

const data: Readonly<Record<string, (table: number) => Iterable<number>>> = {
  *disjoint(table) {
    for (let i = 0; i < 6500; i++) yield table * 6500 + i
  },
  *clustered(table) {
    const cluster = Math.floor(table / 64)
    for (let i = 0; i < 6370; i++) yield cluster * 6370 + i
    for (let i = 0; i < 130; i++) yield 1e9 + table * 130 + i
  },
  *common(table) {
    let state = table + 1
    for (let i = 0; i < 500; i++) {
      state = (Math.imul(state, 0x915f77f5) + 0x9e3779b9) | 0
      yield (state >>> 0) % 100_000
    }
  }
}

function filterOf(values: Iterable<number>): Uint8Array {
  const filter = new Uint8Array(bits / 8)
  for (const value of values) {
    for (const position of positionsOf(value)) {
      filter[position >>> 3] = (filter[position >>> 3] ?? 0) | (1 << (position & 7))
    }
  }
  return filter
}

/** Nanoseconds per query for a value that no table has. */
function measureMiss(index: FilterIndex): number {
  const into = new BitSet(index.capacity)
  let value = 3e9
  const run = (count: number): number => {
    const start = performance.now()
    for (let i = 0; i < count; i++) index.candidates(positionsOf(value++), into)
    return (performance.now() - start) / count
  }
  const count = Math.max(1, Math.ceil(millisecondsPerRound / Math.max(run(20), 1e-4)))
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(run(count))
  return spreadOf(times).median * 1e6
}

/** Number of saturated inner nodes, and of all inner nodes. */
function saturation(index: FilterIndex): string {
  if (!(index instanceof TreeFilterIndex)) return ''
  let nodes = 0
  let saturated = 0
  const visit = (node: Inner): void => {
    nodes++
    if (node.bits.isSaturated) saturated++
    for (const child of node.children) if (!('slot' in child)) visit(child)
  }
  if (index.root !== undefined) visit(index.root)
  return `${saturated} of ${nodes}`
}

const micro = (nanoseconds: number): string => {
  const value = nanoseconds / 1000
  return value < 10 ? value.toFixed(2) : value.toFixed(0)
}

console.log(`${banner()}\n`)
console.log('| tables | data | index | absent value, µs | insert, µs | remove, µs | MiB | saturated nodes |')
console.log('| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |')
for (const tables of process.argv.includes('--large') ? [512, 4096, 16_384] : [512, 4096]) {
  for (const [name, valuesOf] of Object.entries(data)) {
    const filters = Array.from({ length: tables }, (_, table) => filterOf(valuesOf(table)))
    for (const kind of kinds) {
      const index = createFilterIndex({ kind, bits })
      // Tables are inserted in no particular order, as by flushes and compactions.
      const start = performance.now()
      for (let i = 0; i < tables; i++) {
        const table = (i * 2654435761) % tables
        index.insert(i, filters[table])
      }
      const insert = ((performance.now() - start) / tables) * 1e6
      const miss = measureMiss(index)
      const mebibytes = (index.memoryBytes / 2 ** 20).toFixed(1)
      const nodes = saturation(index)
      const removing = performance.now()
      for (let i = 0; i < samples; i++) index.remove(i * Math.floor(tables / samples))
      const remove = ((performance.now() - removing) / samples) * 1e6
      const cells = [tables, name, kind, micro(miss), micro(insert), micro(remove), mebibytes, nodes]
      console.log(`| ${cells.join(' | ')} |`)
    }
  }
}
