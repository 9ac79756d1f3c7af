/**
 * How does admitting a block only on its second miss affect the hits of the block cache? Compares the store's cache
 * with its ring without the doorkeeper, over blocks of 4 KiB that exist only as numbers. Counts hits, not times.
 *
 *   node --import tsx bench/block-cache.ts
 */
import { BlockCache } from '../src/lsm/cache/block-cache.ts'
import { BlockRing, type RingSlots } from '../src/lsm/cache/block-ring.ts'
import { Block } from '../src/lsm/format/block.ts'
import { Random, zipf } from '../src/workload/random.ts'
import { table } from './query-report.ts'

/** One gigabyte, and the default size of the cache. */
const blocks = 262_144
const budget = 8 << 20
const reads = 1_000_000
const random = new Random(1)

/** Each returns a function that returns the next block to read. */
const workloads: Readonly<Record<string, () => () => number>> = {
  'every block as often as any other': () => () => random.below(blocks),
  'Zipf-distributed keys, four to a block': () => {
    const keys = zipf(4 * blocks, 1)
    return () => Math.imul(keys.draw(random) + 1, 0x9e3779b1) & (blocks - 1)
  },
  'a working set of three quarters of the cache, moving on by a block in 20 reads': () => {
    let start = 0
    return () => {
      start += 1 / 20
      return (Math.floor(start) + random.below(1_400)) % blocks
    }
  }
}

const payload = Buffer.alloc(4096)
payload.writeUInt32LE(1, payload.length - 4)
const block = new Block(payload, 0, payload.length, 'a block', 0)

function hitsWithDoorkeeper(next: () => number): number {
  const cached = new BlockCache(budget).forTable(blocks)
  let hits = 0
  for (let i = 0; i < reads; i++) {
    const index = next()
    if (cached.get(index) === undefined) cached.add(index, block)
    else hits++
  }
  return hits
}

function hitsOfRing(next: () => number): number {
  const ring = new BlockRing(budget)
  const slots: RingSlots = new Array(blocks)
  let hits = 0
  for (let i = 0; i < reads; i++) {
    const index = next()
    const entry = slots[index]
    if (entry === undefined) {
      ring.add(slots, index, block)
    } else {
      entry.isReferenced = true
      hits++
    }
  }
  return hits
}

const percent = (hits: number) => `${((100 * hits) / reads).toFixed(1)} %`
const rows = Object.entries(workloads).map(([name, start]) => [
  name,
  percent(hitsOfRing(start())),
  percent(hitsWithDoorkeeper(start()))
])
console.log(table(['reads of', 'every block is taken in', 'when it is missed again'], rows))
