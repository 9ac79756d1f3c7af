import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { seedOfRun } from '../support/values.ts'
import { allOf } from './cursor-cases.ts'
import { FilledMemtable } from './memtable-filling.ts'

let state = seedOfRun()

function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

function randomBytes(length: number, alphabet: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random(alphabet) * Math.floor(255 / (alphabet - 1))))
}

const shapes: Record<string, (number: number) => Buffer> = {
  'random bytes': () => randomBytes(16, 256),
  'ascending numbers': (number) => Buffer.from(`!docs!${String(number).padStart(12, '0')}`),
  'series in order, some within others': (number) =>
    Buffer.from(
      ['!a!', '!a!!docs!', '!a!!ids!', '!a!!index!', '!a!!index!r'][random(5)] + String(number).padStart(7, '0')
    ),
  'series of which one is in no order': (number) =>
    Buffer.from(number % 2 === 0 ? `!docs!${String(number).padStart(7, '0')}` : `!ids!${random(1e9)}`),
  'a series and the key that all of it begins with': (number) => Buffer.alloc(number % 300, 'x'),
  'descending numbers': (number) => Buffer.from(String(10 ** 9 - number)),
  'numbers of any length': () => Buffer.from(String(random(10 ** (1 + random(9))))),
  'long common prefixes': () => Buffer.from(`${'prefix '.repeat(random(12))}${random(1000)}`),
  'zeros of every length': () => Buffer.alloc(random(600)),
  'bytes 0 and 255 of every length': () => randomBytes(random(14), 2),
  'one repeated byte with a tail': () => Buffer.concat([Buffer.alloc(random(500), 7), randomBytes(random(3), 3)])
}

for (const [shape, keyOf] of Object.entries(shapes)) {
  test(`keys are sorted bytewise: ${shape}`, () => {
    const filled = new FilledMemtable()
    const distinct = new Map<string, Buffer>()
    for (let i = 0; i < 5000; i++) {
      const key = keyOf(i)
      distinct.set(key.toString('latin1'), key)
      filled.add({ key, value: Buffer.alloc(0), kind: EntryKind.put })
    }
    const seen = [...new Map(allOf(filled.memtable.cursor()).map(({ key }) => [key.toString('latin1'), key])).values()]
    assert.is(filled.memtable.keyCount, distinct.size)
    assert.is(seen.length, distinct.size)
    assert.ok(Buffer.concat(seen).equals(Buffer.concat([...distinct.values()].sort(Buffer.compare))))
  })
}

for (const [shape, keyOf] of Object.entries(shapes)) {
  test(`keys sorted at different times are merged: ${shape}`, () => {
    const filled = new FilledMemtable()
    const distinct = new Map<string, Buffer>()
    for (let i = 0; i < 2500; i++) {
      const key = keyOf(i)
      distinct.set(key.toString('latin1'), key)
      filled.add({ key, value: Buffer.alloc(0), kind: EntryKind.put })
      if (random(300) === 0) filled.memtable.cursor().close()
    }
    const seen = [...new Map(allOf(filled.memtable.cursor()).map(({ key }) => [key.toString('latin1'), key])).values()]
    assert.is(seen.length, distinct.size)
    assert.ok(Buffer.concat(seen).equals(Buffer.concat([...distinct.values()].sort(Buffer.compare))))
  })
}

test.run()
