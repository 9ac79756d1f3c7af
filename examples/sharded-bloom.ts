/**
 * The index on its own, without a store: adds tweets to a sharded two-level Bloom filter and runs boolean queries.
 *
 *     node --import tsx examples/sharded-bloom.ts [--count n] [--seed s] [--tail bloom | fingerprint]
 *
 * Ids are the numbers of the tweets, so only bits are stored: set bits are mapped back to ids. In a project of your
 * own, import from 'petaldb/sharded-bloom'.
 */
import { parseArgs } from 'node:util'
import { and, type Expression, not, or, type Pair, ShardedBloom } from '../src/sharded-bloom/standalone/index.ts'
import { generateTweets, type Tweet } from '../src/workload/index.ts'
import { formatBytes, formatCount } from './support/print.ts'
import { run } from './support/run.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    tail: { type: 'string', default: 'bloom' }
  }
})

await run(async () => {
  const tweets = [...generateTweets({ count: Number(values.count), seed: Number(values.seed) })]
  const structure = new ShardedBloom({
    bits: tweets.length,
    ids: { codec: 'reversible', to: tweets.length },
    counting: true,
    ...(values.tail === 'fingerprint' ? { tail: 'fingerprint', shards: 256 } : { shards: 1024, rowsPerPair: 8 })
  })
  tweets.forEach((tweet, number) => {
    structure.add(number, pairsOf(tweet))
  })

  const english: Pair = ['lang', 'en']
  const popular: Pair = ['entities.hashtags.text', mostFrequentTag(tweets) ?? null]
  ask(structure, tweets, 'one pair', popular)
  ask(structure, tweets, 'AND', and(english, popular))
  ask(structure, tweets, 'OR', or(popular, ['user.verified', true], ['lang', 'xx']))
  ask(structure, tweets, 'AND with NOT', and(popular, not(english)))
  ask(structure, tweets, 'NOT', not(english))
  ask(structure, tweets, 'absent value', ['user.screen_name', 'nobody has this name'])

  // Counters allow ids to be removed; without them, bits may be shared.
  for (let number = 0; number < tweets.length; number += 2) structure.remove(number, pairsOf(tweets[number]!))
  const left = new Map([...tweets.entries()].filter(([number]) => number % 2 === 1))
  ask(structure, left, 'every other tweet removed', popular)

  const bytes = structure.serialise()
  const copy = ShardedBloom.deserialise(bytes)
  ask(copy, left, 'read back from bytes', popular)

  const { ids, pairs, density, falsePositives } = copy.stats({ probes: 2000 })
  console.log(
    `\n${formatCount(ids)} ids with ${formatCount(pairs)} pairs in ${formatBytes(bytes.length)} with counters`
  )
  console.log(`${(100 * density).toPrecision(3)} % of all bits are set`)
  const { predicted, observed = 0 } = falsePositives
  console.log(
    `false positives of an absent pair: ${predicted.toPrecision(2)} predicted, ${observed.toPrecision(2)} observed`
  )
})

/** Confirms candidates on the tweets themselves, except for certain ones. */
function ask(
  structure: ShardedBloom,
  tweets: { entries(): Iterable<[number, Tweet]> },
  title: string,
  expression: Expression
): void {
  const started = performance.now()
  const result = structure.query(expression)
  const candidates = result.candidates()
  const microseconds = 1000 * (performance.now() - started)
  const matching = new Set<unknown>()
  for (const [number, tweet] of tweets.entries()) if (isMatch(expression, pairsOf(tweet))) matching.add(number)
  const hits = candidates.filter((id) => matching.has(id)).length
  if (hits < matching.size) throw new TypeError(`${title}: ${matching.size - hits} matches are not candidates`)
  const certain = candidates.filter((id) => result.isCertain(id)).length
  console.log(
    `${title.padEnd(26)} ${formatCount(matching.size).padStart(7)} match, ` +
      `${formatCount(candidates.length).padStart(7)} candidates, ${formatCount(certain).padStart(7)} of them certain, ` +
      `${microseconds.toFixed(0)} µs`
  )
}

/** Returns every scalar with its path: nested keys are joined, array positions omitted. */
function pairsOf(value: unknown, path = ''): Pair[] {
  if (typeof value !== 'object' || value === null) return [[path, value]]
  if (Array.isArray(value)) return value.flatMap((member) => pairsOf(member, path))
  return Object.entries(value).flatMap(([key, member]) => pairsOf(member, path === '' ? key : `${path}.${key}`))
}

function isMatch(expression: Expression, pairs: readonly Pair[]): boolean {
  if (!('kind' in expression)) return pairs.some(([key, value]) => key === expression[0] && value === expression[1])
  switch (expression.kind) {
    case 'and':
      return expression.children.every((child) => isMatch(child, pairs))
    case 'or':
      return expression.children.some((child) => isMatch(child, pairs))
    case 'not':
      return !isMatch(expression.child, pairs)
  }
}

function mostFrequentTag(tweets: readonly Tweet[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { text } of tweets.flatMap(({ entities }) => entities.hashtags))
    counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}
