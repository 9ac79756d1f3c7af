/** Private rows hold exactly the positions that were added, whenever the block before them is emptied. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { GrowingRow } from '../../src/sharded-bloom/segment/growing-row.ts'
import { blockPositions, PrivateBlock } from '../../src/sharded-bloom/segment/private-block.ts'
import { testSeed } from '../support/arbitraries.ts'

const seed = testSeed()
const capacity = 8192

/** A number in [0, below) from a sequence that the seed begins. */
function random(start: number): (below: number) => number {
  let state = start | 1
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return Math.floor(((state >>> 0) / 2 ** 32) * below)
  }
}

function positionsOf(row: GrowingRow): number[] {
  const found: number[] = []
  row.words(0, capacity).forEach((word, w) => {
    for (let rest = word; rest !== 0; rest &= rest - 1) found.push(w * 32 + 31 - Math.clz32(rest & -rest))
  })
  return found
}

/** Slot s is in about one document of 2^s. @param flushes says whether rows are read before a position */
function check(flushes: (position: number, below: (bound: number) => number) => boolean): void {
  const below = random(seed)
  const block = new PrivateBlock(16)
  const rows = Array.from({ length: 12 }, () => new GrowingRow(capacity))
  const expected = rows.map((): number[] => [])
  const slots = new Int32Array(64)
  for (let position = 0; position < capacity; position++) {
    if (position % blockPositions === 0 || flushes(position, below)) block.flushTo(rows)
    const chosen = rows.map((_, slot) => slot).filter((slot) => below(2 ** slot) === 0)
    for (const slot of chosen) expected[slot]!.push(position)
    if (below(3) === 0) for (const slot of chosen) block.add(slot, position)
    else {
      slots.set([...chosen, ...chosen.slice(0, 3)])
      block.addAll(slots, chosen.length + Math.min(3, chosen.length), position)
    }
  }
  block.flushTo(rows)
  rows.forEach((row, slot) => {
    assert.equal(positionsOf(row), expected[slot], `row ${slot}`)
    assert.is(row.count, expected[slot]!.length)
  })
}

test('emptied block by block', () => check(() => false))

test('emptied after every document', () => check(() => true))

test('emptied at any time', () => check((_, below) => below(50) === 0))

test('rows that were rare and are not any more', () => {
  const block = new PrivateBlock(48)
  const rows = Array.from({ length: 48 }, () => new GrowingRow(capacity))
  const slots = Int32Array.from(rows.keys())
  const expected: number[] = []
  for (let position = 0; position < capacity; position++) {
    if (position % blockPositions === 0) block.flushTo(rows)
    if (position >= blockPositions && position < 4 * blockPositions) expected.push(position)
    if (position % blockPositions === 77) expected.push(position)
    if (expected.at(-1) === position) block.addAll(slots, slots.length, position)
  }
  block.flushTo(rows)
  for (const row of rows) assert.equal(positionsOf(row), [...new Set(expected)])
})

test('empty again, it adds nothing', () => {
  const block = new PrivateBlock(4)
  const rows = [new GrowingRow(capacity)]
  block.add(0, 5)
  block.flushTo(rows)
  block.flushTo(rows)
  block.add(0, blockPositions + 7)
  block.flushTo(rows)
  assert.equal(positionsOf(rows[0]!), [5, blockPositions + 7])
})

test.run()
