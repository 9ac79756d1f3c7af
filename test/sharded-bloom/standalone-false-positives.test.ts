/** The false positives that the standalone structure predicts agree with the observed ones. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ShardedBloom } from '../../src/sharded-bloom/standalone/index.ts'
import { grid, measure } from './standalone-grid.ts'

/** Fixed: with another seed a point may deviate more, by chance. */
const seed = 20_261_120
const tolerance = 0.2

for (const tail of ['bloom', 'fingerprint'] as const) {
  test(`${tail}: observed false positives are within 20 % of the prediction at every point of the grid`, () => {
    for (const point of grid) {
      if (point.tail !== tail) continue
      const { predicted, observed, falsePositives } = measure(point, seed)
      const said = `${JSON.stringify(point)}: predicted ${predicted}, observed ${observed} (${falsePositives})`
      assert.ok(falsePositives >= 300, `${said} are too few to tell`)
      assert.ok(Math.abs(observed / predicted - 1) <= tolerance, said)
    }
  })
}

test('an empty structure predicts and has no false positives, a full one as many as ids', () => {
  const structure = new ShardedBloom({ shards: 4, bits: 64, rowsPerPair: 4 })
  assert.equal(structure.stats().falsePositives, { predicted: 0, observed: 0 })
  for (let id = 0; id < 64; id++) structure.add(id, [['v', id]])
  const { density, falsePositives } = structure.stats()
  assert.is(density, 1)
  assert.equal(falsePositives, { predicted: 64, observed: 64 })
  assert.is(structure.stats({ probes: 0 }).falsePositives.observed, undefined)
  assert.throws(() => structure.stats({ probes: -1 }), /probes: expected an integer/)
})

test.run()
