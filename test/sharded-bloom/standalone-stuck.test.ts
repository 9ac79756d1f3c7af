/** Counters that reach 15, as many do with so few positions, compared with exact counts of how often each was set. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { decode } from '../../src/sharded-bloom/standalone/format.ts'
import {
  and,
  type Id,
  not,
  type Pair,
  ShardedBloom,
  type ShardedBloomOptions
} from '../../src/sharded-bloom/standalone/index.ts'
import { seededRandom } from '../bloom/random.ts'

const bits = 32
const setups: readonly ShardedBloomOptions[] = (['bloom', 'fingerprint'] as const).flatMap((tail) =>
  (['rehash', { codec: 'table', positions: 'hash' }] as const).map((ids) => ({
    ...(tail === 'bloom' ? { shards: 64, rowsPerPair: 2 } : { shards: 4, fingerprintBits: 8 }),
    bits,
    bitsPerId: 3,
    counting: true,
    tail,
    ids
  }))
)

for (const options of setups) {
  test(`exactly positions that 15 adds shared stay in use, and no match is missed (${JSON.stringify(options)})`, () => {
    const random = seededRandom()
    const structure = new ShardedBloom(options)
    const adds: { readonly id: Id; readonly pairs: readonly Pair[] }[] = []
    const counts = new Uint32Array(bits)
    const stuck = new Set<number>()
    const assertSound = (): void => {
      for (let value = 0; value < 6; value++) {
        const found = structure.query(['n', value])
        const others = structure.query(and(not(['n', value])))
        for (const { id, pairs } of adds) {
          // The same id may have other pairs by another add().
          const isMatch = adds.some((add) => add.id === id && add.pairs.some((pair) => pair[1] === value))
          if (isMatch) assert.ok(found.mayMatch(id), `missed: ${id} with ${JSON.stringify(pairs)}`)
          else assert.ok(others.mayMatch(id), `missed: ${id} without ${value}`)
          if (others.isCertain(id)) assert.not(isMatch, `wrongly certain: ${id}`)
        }
      }
    }
    for (let step = 0; step < 800; step++) {
      if (adds.length > 0 && (adds.length > 120 || random.below(3) === 0)) {
        const [{ id, pairs }] = adds.splice(random.below(adds.length), 1) as [(typeof adds)[number]]
        structure.remove(id, pairs)
        for (const position of positionsOf(id, options)) counts[position]!--
      } else {
        const id = random.below(200)
        const pairs = Array.from({ length: random.below(3) }, () => ['n', random.below(6)] as const)
        structure.add(id, pairs)
        adds.push({ id, pairs })
        for (const position of positionsOf(id, options)) if (++counts[position]! === 15) stuck.add(position)
      }
      if (step % 80 === 0) assertSound()
    }
    assertSound()
    assert.ok(stuck.size > 0)
    for (const { id, pairs } of adds.splice(0)) structure.remove(id, pairs)
    const { used } = decode(structure.serialise())
    for (let position = 0; position < bits; position++) {
      const counter = (used[position >>> 1]! >>> ((position & 1) * 4)) & 15
      assert.is(counter, stuck.has(position) ? 15 : 0, `position ${position}`)
    }
  })
}

/** Positions of an id that depend on its hash: those in use in a structure that has no other id. */
function positionsOf(id: Id, options: ShardedBloomOptions): readonly number[] {
  const alone = new ShardedBloom(options)
  alone.add(id, [])
  const { upper } = alone.query(and())
  return Array.from({ length: bits }, (_, position) => position).filter((position) => upper.get(position))
}

test.run()
