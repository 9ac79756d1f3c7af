/** Units of complete lines contain exactly the bytes that came, and lines too long for a unit are detected early. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { UnitCollector } from '../../src/docstore/bulk/unit-collector.ts'
import { releaseUnitMemory } from '../../src/docstore/bulk/unit-memory.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)
const mebibyte = 1 << 20

function line(bytes: number): Buffer {
  return Buffer.concat([Buffer.alloc(bytes, 'x'), Buffer.from('\n')])
}

/** Takes what was collected, whose line ends must be right. */
function takeUnit(collector: UnitCollector): Buffer {
  const { bytes, ends } = collector.unit()
  const part = Buffer.from(new Uint8Array(bytes))
  const feeds = [...part.keys()].filter((i) => part[i] === 0x0a)
  assert.equal(
    [...ends],
    feeds.map((feed) => feed + 1)
  )
  if (bytes.length > 0) releaseUnitMemory(bytes.buffer)
  return part
}

/** Takes the text in chunks, and yields after each take for checks. */
function* taking(collector: UnitCollector, text: Buffer): Generator<void> {
  for (let at = 0; at < text.length; ) {
    let chunk: Uint8Array = text.subarray(at, at + 1 + below(300))
    at += chunk.length
    while (chunk.length > 0) {
      chunk = collector.take(chunk)
      yield
    }
  }
}

test('the units and the rest, joined, are the bytes that came, however they were cut', () => {
  for (let run = 0; run < 100; run++) {
    const lines = 1 + below(20)
    const text = Buffer.concat(Array.from({ length: below(200) }, () => line(below(60))).concat(Buffer.from('rest')))
    const collector = new UnitCollector('line', lines, mebibyte, mebibyte)
    const parts: Buffer[] = []
    for (const _ of taking(collector, text)) {
      assert.not.ok(collector.isUnfillable)
      if (!collector.isFull) continue
      const part = takeUnit(collector)
      assert.is(part.filter((byte) => byte === 0x0a).length, lines)
      assert.is(part.at(-1), 0x0a)
      parts.push(part)
    }
    parts.push(takeUnit(collector))
    assert.ok(Buffer.concat(parts).equals(text), `seed ${seed}, run ${run}`)
  }
})

test('a unit ends with a line, even if its target size changes meanwhile', () => {
  for (let run = 0; run < 100; run++) {
    const text = Buffer.concat(Array.from({ length: below(200) }, () => line(below(60))))
    const collector = new UnitCollector('line', 1 + below(20), mebibyte, mebibyte)
    const parts: Buffer[] = []
    for (const _ of taking(collector, text)) {
      if (below(2) === 0) collector.setTarget(1 + below(20))
      if (!collector.isFull) continue
      const part = takeUnit(collector)
      assert.is(part.at(-1), 0x0a, `seed ${seed}, run ${run}`)
      parts.push(part)
    }
    const begun = collector.takePartialLine()
    const last = takeUnit(collector)
    assert.ok(last.length === 0 || last.at(-1) === 0x0a)
    assert.ok(Buffer.concat([...parts, last, begun]).equals(text), `seed ${seed}, run ${run}`)
  }
})

/** Bytes taken until `isOver` is set; undefined if it never is. */
function overAfter(collector: UnitCollector, pieces: Iterable<Buffer>): number | undefined {
  let taken = 0
  for (const piece of pieces) {
    for (let rest: Uint8Array = piece; rest.length > 0; ) {
      const before = rest.length
      rest = collector.take(rest)
      taken += before - rest.length
      if (collector.isUnfillable) return taken
      assert.not.ok(collector.isFull)
    }
  }
  return undefined
}

function* repeated(piece: Buffer, count: number): Generator<Buffer> {
  for (let i = 0; i < count; i++) yield piece
}

test('too few lines in many bytes, a line that is too long, and a full unit are detected', () => {
  const collector = () => new UnitCollector('line', 65_536, 128 * mebibyte, 32 * mebibyte)
  const few = overAfter(collector(), repeated(line(100_000), 1000)) ?? 0
  assert.ok(few > 16 * mebibyte && few < 17 * mebibyte, `${few} bytes of lines of 100 kB`)
  const short = [line(100), line(5_000)].flatMap((each) => [...repeated(each, 500)])
  const long = overAfter(collector(), [...short, ...repeated(Buffer.alloc(mebibyte, 'x'), 100)]) ?? 0
  assert.ok(long > 32 * mebibyte && long < 36 * mebibyte, `${long} bytes of lines and one without an end`)
  const many = overAfter(collector(), repeated(line(20_000), 10_000)) ?? 0
  assert.ok(many > 128 * mebibyte && many < 129 * mebibyte, `${many} bytes of lines of 20 kB`)
  assert.is(overAfter(collector(), repeated(line(900), 60_000)), undefined)
})

test('records are the lines of their unit, and one that does not fit is not taken', () => {
  const collector = new UnitCollector('record', 3, mebibyte, mebibyte)
  for (let round = 0; round < 2; round++) {
    for (const text of ['{"a":1}', '', 'é']) {
      assert.not.ok(collector.isFull)
      assert.ok(collector.put(Buffer.from(text)))
    }
    assert.ok(collector.isFull)
    const { kind, bytes, ends } = collector.unit()
    assert.is(kind, 'record')
    assert.is(Buffer.from(bytes).toString(), '{"a":1}\n\né\n')
    assert.equal([...ends], [8, 9, 12])
  }
  const large = new UnitCollector('record', 1000, mebibyte, mebibyte)
  let count = 0
  while (large.put(Buffer.alloc(100_000, 'x'))) {
    count++
    // Continuing nevertheless loses nothing.
    assert.is(large.isUnfillable, count * 100_001 > mebibyte)
  }
  assert.ok(large.isUnfillable)
  assert.is(large.unit().bytes.length, count * 100_001)
  assert.ok(large.put(Buffer.from('{}')))
})

test.run()
