/** A segment that was freed can be collected: shapes of documents, which stay, do not hold it. */
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { MurmurHasher } from '../../src/bloom/murmur-hasher.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { geometryOf } from '../../src/sharded-bloom/segment/geometry.ts'
import { OpenSegment } from '../../src/sharded-bloom/segment/open-segment.ts'

const hasher = new MurmurHasher()
const flattener = new Flattener(hasher, { lo: 1, hi: 2 })
const pairHash = new PairHash(hasher, (path) => flattener.seedOf(path))
const parameters = { shards: 64, rowsPerPair: 4, privatePairs: [], columns: [], upperFrames: 0 }

/** A weak reference to a segment that was filled and freed. */
function pastSegment(): WeakRef<object> {
  const segment = new OpenSegment(rowMemory(), geometryOf(512), pairHash, 0, parameters)
  for (let n = 0; n < 200; n++) segment.add(flattener.flatten({ [`key${n % 20}`]: n }))
  segment.free()
  return new WeakRef(segment)
}

test('shapes of documents do not keep a freed segment alive', async () => {
  v8.setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const segment = pastSegment()
  // A new WeakRef keeps its object alive until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  assert.is(segment.deref(), undefined)
})

test.run()
