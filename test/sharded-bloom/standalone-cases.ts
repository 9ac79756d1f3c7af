/**
 * Tests of what every standalone structure promises, whatever its id codec, tail and counting: compared with exact
 * sets, with so few bits that false positives and shared positions are everywhere.
 */
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { checksum } from '../../src/sharded-bloom/records/checksum.ts'
import { decode } from '../../src/sharded-bloom/standalone/format.ts'
import {
  and,
  type Expression,
  type Id,
  not,
  or,
  type Pair,
  PetalError,
  ShardedBloom,
  type ShardedBloomOptions
} from '../../src/sharded-bloom/standalone/index.ts'
import { type Random, seededRandom } from '../bloom/random.ts'

export interface Setup {
  readonly name: string
  readonly options: ShardedBloomOptions
  /** Returns different ids for different numbers. */
  readonly idOf: (number: number) => Id
  /** True if candidates() needs the ids to choose from. */
  readonly needsIds?: boolean
}

/** M: fewer than there are ids, so that positions are shared. */
const bits = 150
const idCount = 220

const mixedId = (number: number): Id => (number % 2 === 0 ? `id \ud800${number}` : number * 0.5 - 3)
const integerId = (number: number): Id => 1000 + ((number * 7919) % 600)

const codecs: readonly Setup[] = [
  { name: 'table by order', options: { shards: 40, bits, ids: 'table' }, idOf: mixedId },
  ...[1, 3].map((bitsPerId) => ({
    name: `table by hash, K = ${bitsPerId}`,
    options: { shards: 40, bits, bitsPerId, ids: { codec: 'table', positions: 'hash' } } as const,
    idOf: mixedId
  })),
  {
    name: 'reversible, D = M',
    options: { shards: 40, bits: 600, ids: { codec: 'reversible', from: 1000, to: 1600 } },
    idOf: integerId
  },
  {
    name: 'reversible, D = 4 M',
    options: { shards: 40, bits, ids: { codec: 'reversible', from: 1000, to: 1600 } },
    idOf: integerId
  },
  ...[1, 3].map((bitsPerId) => ({
    name: `rehash, K = ${bitsPerId}`,
    options: { shards: 40, bits, bitsPerId, ids: 'rehash' } as const,
    idOf: mixedId,
    needsIds: true
  }))
]

export const setups: readonly Setup[] = codecs.flatMap((setup) =>
  (['bloom', 'fingerprint'] as const).flatMap((tail) =>
    [false, true].map((counting) => ({
      ...setup,
      name: `${setup.name}, ${tail}${counting ? ', counting' : ''}`,
      options: {
        ...setup.options,
        tail,
        counting,
        // So few bits that fingerprints collide: buckets, too, should have false positives.
        ...(tail === 'fingerprint' ? { shards: 2, fingerprintBits: 8 } : { rowsPerPair: 3 })
      }
    }))
  )
)

type ExactSets = Map<Id, Pair[]>

/** Registers the tests. */
export function standaloneCases(test: Test, { name, options, idOf, needsIds = false }: Setup): void {
  const ask = (structure: ShardedBloom, expression: Expression, sets: ExactSets): void => {
    const result = structure.query(expression)
    const candidates = new Set(result.candidates(needsIds ? sets.keys() : undefined))
    const bitset = result.toBitSet()
    assert.is(bitset.cardinality(), result.upper.count())
    for (const [id, pairs] of sets) {
      const isMatch = matches(expression, pairs)
      const said = `${JSON.stringify(id)} for ${JSON.stringify(expression)}`
      if (isMatch) assert.ok(candidates.has(id), `missed: ${said}`)
      if (result.isCertain(id)) assert.ok(isMatch, `wrongly certain: ${said}`)
      assert.is(result.mayMatch(id), candidates.has(id), said)
    }
  }
  const askAll = (structure: ShardedBloom, random: Random, sets: ExactSets): void => {
    for (let i = 0; i < 60; i++) ask(structure, someExpression(random, 4), sets)
    for (const [id, pairs] of sets) for (const pair of pairs) assert.ok(structure.mayContain(id, pair))
  }

  test(`no match is missed and only matches are certain, before and after a round trip (${name})`, () => {
    const random = seededRandom()
    const structure = new ShardedBloom(options)
    const sets: ExactSets = new Map()
    for (let number = 0; number < idCount; number++) {
      addSome(structure, random, sets, idOf(number))
      // More pairs for an existing id.
      if (number % 10 === 0) addSome(structure, random, sets, idOf(random.below(number + 1)))
      if (number % 100 === 0) askAll(structure, random, sets)
    }
    askAll(structure, random, sets)
    const bytes = structure.serialise()
    const copy = ShardedBloom.deserialise(bytes)
    assert.equal(copy.serialise(), bytes)
    assert.equal(figures(copy, sets), figures(structure, sets))
    askAll(copy, random, sets)
    addSome(copy, random, sets, idOf(idCount))
    askAll(copy, random, sets)
  })

  test(`damaged bytes are refused with a typed error (${name})`, () => {
    const random = seededRandom()
    const structure = new ShardedBloom(options)
    for (let number = 0; number < 30; number++) addSome(structure, random, new Map(), idOf(number))
    const bytes = structure.serialise()
    for (let i = 0; i < 60; i++) {
      assertRefused(bytes.subarray(0, random.below(bytes.length)))
      const flipped = bytes.slice()
      const at = random.below(bytes.length)
      flipped[at] = flipped[at]! ^ (1 << random.below(8))
      assertRefused(flipped)
      // With a corrected checksum, damage may be valid content, or else is found when it is read.
      new DataView(flipped.buffer).setUint32(8, checksum(flipped.subarray(12), 1), true)
      if (at >= 12) assertRefused(flipped, 'or read')
    }
  })

  if (options.counting !== true) {
    test(`remove() is refused without counters (${name})`, () => {
      const structure = new ShardedBloom(options)
      structure.add(idOf(1), [['a', 1]])
      assert.throws(() => structure.remove(idOf(1), [['a', 1]]), isError('IllegalOperation'))
    })
    return
  }

  test(`no match is missed through add() and remove(); in the end only stuck counters are left (${name})`, () => {
    const random = seededRandom()
    const structure = new ShardedBloom({ ...options, shards: options.tail === 'bloom' ? 400 : options.shards })
    const empty = structure.serialise()
    const adds: { readonly id: Id; readonly pairs: readonly Pair[] }[] = []
    const setsOf = (): ExactSets => {
      const sets: ExactSets = new Map()
      for (const { id, pairs } of adds) sets.set(id, [...(sets.get(id) ?? []), ...pairs])
      return sets
    }
    for (let step = 0; step < 600; step++) {
      if (adds.length > 0 && (adds.length > 120 || random.below(3) === 0)) {
        const [{ id, pairs }] = adds.splice(random.below(adds.length), 1) as [(typeof adds)[number]]
        structure.remove(id, pairs)
      } else {
        const id = idOf(random.below(idCount))
        const pairs = somePairs(random)
        structure.add(id, pairs)
        adds.push({ id, pairs })
      }
      if (step % 100 === 0) askAll(structure, random, setsOf())
    }
    askAll(ShardedBloom.deserialise(structure.serialise()), random, setsOf())
    const stored = structure.serialise()
    const unknown = idOf(idCount + 1)
    structure.add(unknown, [['fresh', 1]])
    // A pair that others' bits make appear present cannot be refused.
    if (!structure.mayContain(unknown, ['fresh', 2])) {
      assert.throws(() => structure.remove(unknown, [['fresh', 2]]), isError('BadValue'))
    }
    structure.remove(unknown, [['fresh', 1]])
    assertEqualButStuck(structure.serialise(), stored, options)
    for (const { id, pairs } of adds) structure.remove(id, pairs)
    assertEqualButStuck(structure.serialise(), empty, options)
  })
}

/**
 * Asserts equality except for counters that reached 15, because enough ids share a position, and stay there. How
 * counters behave up to 14, and at 15, is tested in standalone-promises.test.ts.
 */
function assertEqualButStuck(actual: Uint8Array, expected: Uint8Array, { tail }: ShardedBloomOptions): void {
  const { used: actualUsed, tail: actualTail, ...actualRest } = decode(actual)
  const { used: expectedUsed, tail: expectedTail, ...expectedRest } = decode(expected)
  assert.equal(actualRest, expectedRest)
  assert.equal(actualUsed, withStuck(expectedUsed, actualUsed), 'positions in use')
  // The other tail keeps entries, and no counters.
  assert.equal(actualTail, tail === 'bloom' ? withStuck(expectedTail, actualTail) : expectedTail, 'tail')
}

/** Sets those counters, two in a byte, to 15 that are 15 in `actual`. */
function withStuck(counters: Uint8Array, actual: Uint8Array): Uint8Array {
  return counters.map((two, i) => {
    const low = (actual[i]! & 0x0f) === 0x0f ? 0x0f : 0
    const high = (actual[i]! & 0xf0) === 0xf0 ? 0xf0 : 0
    return two | low | high
  })
}

/** Values of stats() that depend neither on room for growth nor on the order of a sum. */
function figures(structure: ShardedBloom, sets: ExactSets): readonly unknown[] {
  const { ids, pairs, density, falsePositives } = structure.stats({ ids: sets.keys(), probes: 50 })
  return [ids, pairs, density, falsePositives.observed, falsePositives.predicted.toPrecision(6)]
}

/** The oracle: what the expression means. */
function matches(expression: Expression, pairs: readonly Pair[]): boolean {
  if (!('kind' in expression)) return pairs.some(([key, value]) => key === expression[0] && value === expression[1])
  switch (expression.kind) {
    case 'and':
      return expression.children.every((child) => matches(child, pairs))
    case 'or':
      return expression.children.some((child) => matches(child, pairs))
    case 'not':
      return !matches(expression.child, pairs)
  }
}

function someExpression(random: Random, depth: number): Expression {
  const children = () => Array.from({ length: random.below(4) }, () => someExpression(random, depth - 1))
  switch (depth === 0 ? 0 : random.below(6)) {
    case 3:
      return and(...children())
    case 4:
      return or(...children())
    case 5:
      return not(someExpression(random, depth - 1))
    default:
      return somePair(random)
  }
}

function somePair(random: Random): Pair {
  const key = ['lang', 'tag', 'user.name'][random.below(3)]!
  const number = random.below(30)
  return [key, [number, `v${number}`, number % 2 === 0, null][random.below(4)]]
}

function somePairs(random: Random): Pair[] {
  return Array.from({ length: random.below(10) }, () => somePair(random))
}

function addSome(structure: ShardedBloom, random: Random, sets: ExactSets, id: Id): void {
  const pairs = somePairs(random)
  structure.add(id, pairs)
  sets.set(id, [...(sets.get(id) ?? []), ...pairs])
}

function assertRefused(bytes: Uint8Array, orRead?: 'or read'): void {
  try {
    ShardedBloom.deserialise(bytes).query(and())
  } catch (error) {
    const isRefused = error instanceof PetalError && /^(DataCorruption|UnsupportedFormat)$/.test(error.codeName)
    assert.ok(isRefused, String(error))
    return
  }
  assert.is(orRead, 'or read')
}

function isError(codeName: string): (error: unknown) => boolean {
  return (error) => error instanceof PetalError && error.codeName === codeName
}
