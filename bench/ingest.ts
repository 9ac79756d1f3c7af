/**
 * How fast are tweets imported, compared with classic-level storing the same ready-made JSON without an index?
 *
 *     node --import tsx bench/ingest.ts [--count n] [--rounds n] [--batch n] [--seed n]
 *
 * To profile one side in this process:
 *
 *     node --cpu-prof --import tsx bench/ingest.ts --only petaldb
 */
import { parseArgs } from 'node:util'
import { type Importer, importers, prepareImport } from './import-once.ts'
import { importPairs } from './import-pairs.ts'
import { machine } from './machine.ts'
import { header } from './query-report.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    batch: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' }
  }
})
const count = Number(options.count)
const rounds = Number(options.rounds)
const input = { count, seed: Number(options.seed), batch: Number(options.batch) }

if (options.only === undefined) {
  const { markdown, acknowledgedRatio, closedRatio, bytesRatio } = await importPairs({
    ...input,
    rounds,
    progress: console.error
  })
  console.log(header(machine(), `node --import tsx bench/ingest.ts --count ${count} --batch ${input.batch}`))
  console.log(`\n${markdown}\n`)
  console.log(`petaldb / classic-level: ${acknowledgedRatio.toFixed(2)} acknowledged, ${closedRatio.toFixed(2)} closed`)
  console.log(`petaldb-bytes / classic-level: ${bytesRatio.toFixed(2)} acknowledged`)
} else if (isImporter(options.only)) {
  const run = prepareImport(options.only, input)
  for (let round = 0; round < rounds; round++) {
    const { acknowledgedMilliseconds, closedMilliseconds } = await run()
    console.log(
      `${options.only}: ${((count / acknowledgedMilliseconds) * 1000).toFixed(0)} documents per second until acknowledged, ` +
        `${((count / closedMilliseconds) * 1000).toFixed(0)} until closed`
    )
  }
} else {
  console.error(`--only takes ${importers.join(' or ')}, not ${options.only}`)
  process.exitCode = 2
}

function isImporter(name: string): name is Importer {
  return (importers as readonly string[]).includes(name)
}
