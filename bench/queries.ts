/**
 * How fast is each store at each class of queries, over the same tweets and in the same run?
 *
 *     npm run bench -- [--quick] [--count n] [--rounds n] [--only petaldb,sqlite] [--seed n]
 *
 * Prints Markdown, writes it to bench/results/ along with the raw numbers, and exits with status 1 if answers differ.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { queryClasses } from '../src/workload/query-classes.ts'
import { compare, progress } from './compare.ts'
import { contenderNames } from './contender.ts'
import { comparisonMarkdown } from './query-report.ts'
import { defaultRounds } from './repetitions.ts'
import { checkTargets } from './targets.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    count: { type: 'string' },
    rounds: { type: 'string', default: String(defaultRounds) },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: 'petaldb,sqlite,sqlite-indexed,nedb,mingo,level-scan' },
    'import-rounds': { type: 'string', default: '5' }
  }
})
const count = Number(options.count ?? (options.quick ? 10_000 : 100_000))
const seed = Number(options.seed)
const rounds = Number(options.rounds)

progress(`choosing queries over ${count} tweets`)
const comparison = await compare({
  names: contenderNames.filter((name) => options.only.split(',').includes(name)),
  classes: queryClasses({ count, seed }),
  count,
  seed,
  rounds,
  importRounds: Number(options['import-rounds']),
  importCount: count,
  cold: false
})
const command = `npm run bench -- --count ${count} --seed ${seed} --rounds ${rounds}`
const markdown = comparisonMarkdown(comparison, command, checkTargets(comparison))
console.log(`\n${markdown}`)
const results = new URL('results/', import.meta.url)
mkdirSync(results, { recursive: true })
writeFileSync(new URL(`queries-${count}.md`, results), markdown)
writeFileSync(new URL(`queries-${count}.json`, results), `${JSON.stringify(comparison, undefined, 2)}\n`)
if (comparison.disagreements.length > 0) process.exitCode = 1
