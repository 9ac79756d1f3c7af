/**
 * Bounds rely on a description of the pairs that a document has (test/support/reference-pairs.ts). The index must emit
 * exactly those; otherwise bounds that are sound in theory would lose documents.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { Tag } from '../../src/sharded-bloom/pairs/pair-tags.ts'
import { adversarial, documents, testSeed } from '../support/arbitraries.ts'
import { referencePairs } from '../support/reference-pairs.ts'

const seed = testSeed()

test('the index emits the pairs that bounds rely on, and marks irregular keys', () => {
  const flattener = new Flattener(createHasher('murmur'), { lo: 1, hi: 2 })
  fc.assert(
    fc.property(documents(adversarial), (document) => {
      const flat = flattener.flatten(document)
      const emitted = new Set<string>()
      for (const { node, type } of flat.shape.facts()) {
        emitted.add(`exists ${node.path}`)
        emitted.add(`type ${type} ${node.path}`)
      }
      for (let i = 0; i < flat.count; i++) {
        const kind = flat.tags[i] === Tag.size ? 'size' : `value ${flat.tags[i]}`
        emitted.add(`${kind} ${flat.keys[i]} ${flat.nodes[i]?.path}`)
      }
      const { pairs, irregularKeys } = referencePairs(document)
      assert.equal([...emitted].sort(), [...pairs].sort())
      assert.equal([...flat.irregularKeys].sort(), [...irregularKeys].sort())
    }),
    { seed, numRuns: 10_000 }
  )
})

test.run()
