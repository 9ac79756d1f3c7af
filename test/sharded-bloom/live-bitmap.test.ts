/** Live bitmaps are copied on write, and only while a capture is held. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LiveBitmap } from '../../src/sharded-bloom/segment/live.ts'
import { testSeed } from '../support/arbitraries.ts'

const seed = testSeed()
const capacity = 64

type Step =
  | { readonly does: 'remove'; readonly position: number }
  | { readonly does: 'capture' }
  | { readonly does: 'release'; readonly which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('remove' as const), position: fc.nat(capacity - 1) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('capture' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('release' as const), which: fc.nat(9) }) }
)

test('a capture keeps its documents until it is released, despite removals and other releases', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const live = new LiveBitmap(capacity)
      const dead = new Set<number>()
      const captures: { readonly words: Uint32Array | undefined; readonly dead: ReadonlySet<number> }[] = []
      for (const each of steps) {
        if (each.does === 'remove') {
          assert.is(live.remove(each.position), !dead.has(each.position))
          dead.add(each.position)
        } else if (each.does === 'capture') {
          captures.push({ words: live.capture(), dead: new Set(dead) })
        } else if (captures.length > 0) {
          const [released] = captures.splice(each.which % captures.length, 1)
          live.release(released!.words)
        }
        for (const capture of captures) assert.equal(deadIn(capture.words), [...capture.dead].sort(ascending))
        assert.equal(deadIn(live.words), [...dead].sort(ascending))
        assert.is(live.dead, dead.size)
      }
    }),
    { seed, numRuns: 500 }
  )
})

test('a removal copies the words only while a capture of them is held', () => {
  const live = new LiveBitmap(capacity)
  live.remove(1)
  const before = live.words
  live.release(live.capture())
  live.remove(2)
  assert.is(live.words, before)
  const held = live.capture()
  live.remove(3)
  assert.is.not(live.words, before)
  // A late release of words that were replaced does not affect the current ones.
  const again = live.capture()
  live.release(held)
  live.remove(4)
  assert.is.not(live.words, again)
})

function deadIn(words: Uint32Array | undefined): number[] {
  if (words === undefined) return []
  const positions = Array.from({ length: capacity }, (_, position) => position)
  return positions.filter((position) => (words[position >>> 5]! & (1 << (position & 31))) === 0)
}

function ascending(a: number, b: number): number {
  return a - b
}

test.run()
