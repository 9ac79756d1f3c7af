/**
 * How does PetalDB compare, at a million documents, with its alternatives?
 *
 *     npm run bench:million [-- --count 1000000 --rounds 15 --seed 1 --only petaldb,sqlite --output bench/results]
 *
 * Twelve classes of queries return complete documents, cold and warm. The benchmark starts a PostgreSQL server in a
 * directory of its own; if PostgreSQL is not installed, it is left out, and the report says so. Stores that hold
 * everything in memory take part up to 100,000 documents. bench/growth.ts reports how times grow between two counts;
 * for that, `--only petaldb --import-rounds 0` is enough at three million.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { queryClasses } from '../src/workload/query-classes.ts'
import { compare, progress } from './compare.ts'
import { type ContenderName, contenderNames } from './contender.ts'
import { checkMillionTargets } from './million-targets.ts'
import { comparisonMarkdown } from './query-report.ts'
import { defaultRounds } from './repetitions.ts'
import { twelve } from './twelve.ts'

const onDisk: readonly ContenderName[] = ['petaldb', 'postgres-gin', 'sqlite', 'sqlite-indexed', 'level-scan']
const inMemory: readonly ContenderName[] = ['nedb', 'lokijs']
const inMemoryLimit = 100_000
/** Importers keep their input in memory: a million objects take some 3 GB. */
const mostImported = 1_000_000

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: String(defaultRounds) },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    'import-rounds': { type: 'string', default: '5' },
    'import-count': { type: 'string' },
    output: { type: 'string', default: fileURLToPath(new URL('results', import.meta.url)) }
  }
})
const count = Number(options.count)
const seed = Number(options.seed)
const rounds = Number(options.rounds)
const wanted = options.only?.split(',') ?? [...onDisk, ...(count <= inMemoryLimit ? inMemory : [])]

progress(`choosing queries over ${count} tweets`)
const comparison = await compare({
  names: contenderNames.filter((name) => wanted.includes(name)),
  classes: queryClasses({ count, seed }).filter(({ name }) => twelve.includes(name)),
  count,
  seed,
  rounds,
  importRounds: Number(options['import-rounds']),
  importCount: Number(options['import-count'] ?? Math.min(count, mostImported)),
  cold: true
})
const command = `npm run bench:million -- --count ${count} --seed ${seed} --rounds ${rounds}`
const markdown = comparisonMarkdown(comparison, command, checkMillionTargets(comparison))
console.log(`\n${markdown}`)
mkdirSync(options.output, { recursive: true })
writeFileSync(join(options.output, `million-${count}.md`), markdown)
writeFileSync(join(options.output, `million-${count}.json`), `${JSON.stringify(comparison, undefined, 2)}\n`)
if (comparison.disagreements.length > 0) process.exitCode = 1
