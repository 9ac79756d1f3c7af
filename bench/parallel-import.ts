/**
 * How much do threads speed up an import of lines or objects? Compares PetalDB with none, one, two, … up to as many as
 * there are processors (at most eight), and classic-level storing the ready-made strings, each run in its own process.
 *
 *     npm run build && node --import tsx bench/parallel-import.ts [--count 1000000 --rounds 3 --output bench/results]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Importer, ImportInput, ImportTimes } from './import-once.ts'
import type { ImportHandlers } from './import-process.ts'
import { machine } from './machine.ts'
import { header, significant, table } from './query-report.ts'
import { connect } from './rpc.ts'
import { spread } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    output: { type: 'string' }
  }
})
const count = Number(options.count)
const rounds = Number(options.rounds)
const mostThreads = Math.min(8, availableParallelism())

interface Side {
  readonly name: string
  readonly importer: Importer
  readonly threads?: number
}

const sides: readonly Side[] = [
  ...sidesOf('lines', 'petaldb-bytes'),
  ...sidesOf('objects', 'petaldb'),
  { name: 'classic-level', importer: 'classic-level' }
]

function sidesOf(what: string, importer: Importer): Side[] {
  return Array.from({ length: mostThreads + 1 }, (_, threads) => ({
    name: `${what}, ${threads} thread${threads === 1 ? '' : 's'}`,
    importer,
    threads
  }))
}

/** Each run has a process of its own, since the input alone is a gigabyte; no code is compiled in advance. */
async function run({ importer, threads }: Side): Promise<ImportTimes> {
  const child = connect<ImportHandlers>(new URL('import-process.ts', import.meta.url))
  try {
    const input: ImportInput = { count, seed: 1, batch: 1000, threads }
    await child.call('prepare', { importer, ...input })
    return await child.call('run', undefined)
  } finally {
    await child.end()
  }
}

const runs = new Map<Side, ImportTimes[]>(sides.map((side) => [side, []]))
for (let round = 0; round < rounds; round++) {
  for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
    console.error(`round ${round + 1} of ${rounds}: ${side.name}`)
    runs.get(side)!.push(await run(side))
  }
}
const milliseconds = (side: Side): number => spread(runs.get(side)!.map((each) => each.acknowledgedMilliseconds)).median
const level = milliseconds(sides.at(-1)!)
const markdown = [
  '# Imports by several threads\n',
  header(machine(), `node --import tsx bench/parallel-import.ts --count ${count} --rounds ${rounds}`),
  `\n${count} generated tweets, each import in a new process; medians, least and most.\n`,
  table(
    ['', 'documents per ms', "of classic-level's", 'processor, all threads, µs per document'],
    sides.map((side) => {
      const wall = spread(runs.get(side)!.map((each) => each.acknowledgedMilliseconds))
      const processor = spread(runs.get(side)!.map((each) => each.processorMilliseconds))
      return [
        side.name,
        `${significant(count / wall.median)} (${significant(count / wall.max)}–${significant(count / wall.min)})`,
        (level / wall.median).toFixed(2),
        significant((processor.median / count) * 1000)
      ]
    })
  )
].join('\n')
console.log(`${markdown}\n`)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, `parallel-import-${count}.md`), `${markdown}\n`)
}
