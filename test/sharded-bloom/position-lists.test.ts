/** Lists of positions share buffers, but nothing in them. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyPositions } from '../../src/sharded-bloom/position-lists.ts'
import { seededRandom } from '../bloom/random.ts'

const random = seededRandom()

test('lists of any length hold what was copied, whatever is copied later', () => {
  const source = Uint16Array.from({ length: 65_536 }, () => random.below(65_536))
  const lengths = [0, 1, 31, 32, 33, 2047, 2048, 2049, 65_536]
  const copies: { list: Uint16Array; expected: number[] }[] = []
  for (let i = 0; i < 600; i++) {
    const count = lengths[i] ?? random.below(i % 5 === 0 ? 3000 : 200)
    const from = random.below(source.length - count + 1)
    copies.push({ list: copyPositions(source, from, count), expected: Array.from(source.slice(from, from + count)) })
  }
  source.fill(0)
  for (const { list, expected } of copies) assert.equal(Array.from(list), expected)
})

test('a list that is kept keeps at most 32 KiB besides its own positions', () => {
  const source = new Uint16Array(65_536)
  for (const count of [33, 500, 2048, 2049, 10_000]) {
    const { buffer, byteLength } = copyPositions(source, 0, count)
    assert.ok(buffer.byteLength - byteLength <= 32 * 1024, `${buffer.byteLength} bytes for ${count} positions`)
  }
})

test.run()
