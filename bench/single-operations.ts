/**
 * What does it cost to insert, read, update, replace and delete documents one at a time? Compares PetalDB with SQLite,
 * NeDB and LevelDB, each in its own process and on disk, without an fsync per write.
 *
 *     npm run build
 *     node --import tsx bench/single-operations.ts [--count 100000 --each 1000 --rounds 9 --output bench/results]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { machine } from './machine.ts'
import { header, significant, table } from './query-report.ts'
import { connect } from './rpc.ts'
import { type Operation, operations, type RoundTimes } from './single/operations.ts'
import type { SingleHandlers } from './single/process.ts'
import { type SingleStoreName, singleStoreNames } from './single/store.ts'
import { spread } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    each: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '9' },
    only: { type: 'string' },
    output: { type: 'string' }
  }
})
const [count, each, rounds] = [Number(options.count), Number(options.each), Number(options.rounds)]
/** Rounds that are not counted. */
const warmUps = 3
const names = singleStoreNames.filter((name) => options.only?.split(',').includes(name) ?? true)

interface Side {
  readonly name: SingleStoreName
  readonly description: string
  readonly child: ReturnType<typeof connect<SingleHandlers>>
  readonly times: RoundTimes[]
}

async function begin(name: SingleStoreName): Promise<Side> {
  console.error(`loading ${name}`)
  const child = connect<SingleHandlers>(new URL('single/process.ts', import.meta.url))
  const description = await child.call('prepare', { name, count, each, rounds: rounds + warmUps })
  return { name, description, child, times: [] }
}

const sides: Side[] = []
for (const name of names) sides.push(await begin(name))
for (let round = 0; round < warmUps + rounds; round++) {
  console.error(`round ${round + 1} of ${warmUps + rounds}`)
  // The order alternates.
  for (const { child, times } of round % 2 === 0 ? sides : [...sides].reverse()) {
    const taken = await child.call('round', round)
    if (round >= warmUps) times.push(taken)
  }
}
const samples = await Promise.all(sides.map(({ child }) => child.call('sample', undefined)))
for (const [i, { name }] of sides.entries()) {
  if (!isDeepStrictEqual(samples[i], samples[0]))
    throw new Error(`${name} holds other documents than ${sides[0]!.name}`)
}
const megabytes: string[] = []
for (const { child } of sides) {
  megabytes.push(((await child.call('close', undefined)) / 1e6).toFixed(0))
  await child.end()
}

function cell({ times }: Side, operation: Operation): string {
  const taken = times.map((round) => round[operation]).filter((time) => time !== undefined)
  if (taken.length === 0) return '–'
  const { median, min, max } = spread(taken)
  return `${significant(median)} (${significant(min)}–${significant(max)})`
}

const markdown = [
  '# One document at a time\n',
  header(machine(), `node --import tsx bench/single-operations.ts --count ${count} --each ${each} --rounds ${rounds}`),
  '',
  ...sides.map(({ name, description }) => `* **${name}**: ${description}`),
  `\nMicroseconds per operation over ${count.toLocaleString('en')} generated tweets, ${each} of each kind a round, each awaited before the`,
  'next unless said otherwise; median of all rounds, least and most. Writes survive the process, not the power. All held the same documents in the end.\n',
  table(
    ['', ...names],
    [
      ...operations.map((operation) => [operation, ...sides.map((side) => cell(side, operation))]),
      ['disk in the end, MB', ...megabytes]
    ]
  )
].join('\n')
console.log(`${markdown}\n`)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, `single-operations-${count}.md`), `${markdown}\n`)
}
