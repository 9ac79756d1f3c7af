/**
 * How fast is each store at each class of query, over the same tweets, in the same run?
 *
 *     npm run bench -- [--quick] [--count n] [--rounds n] [--only petaldb,sqlite] [--seed n]
 *
 * Every contender has a process of its own. They load one after the other and must agree on the answer to every query;
 * then rounds go over queries and contenders in turn, so that whatever disturbs the machine disturbs all. Prints
 * markdown, keeps it with the raw numbers in bench/results/, and ends with status 1 when answers differ.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type QueryClass, queryClasses } from '../src/workload/query-classes.ts'
import type { Comparison, ContenderResult, QueryResult } from './comparison.ts'
import { type ContenderName, contenderNames } from './contender.ts'
import type { ContenderHandlers } from './contender-process.ts'
import { importPairs } from './import-pairs.ts'
import { machine } from './machine.ts'
import { comparisonMarkdown } from './query-report.ts'
import { connect } from './rpc.ts'
import { spread } from './statistics.ts'
import { checkTargets } from './targets.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    count: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: contenderNames.join(',') },
    'import-rounds': { type: 'string', default: '5' }
  }
})
const count = Number(options.count ?? (options.quick ? 10_000 : 100_000))
const seed = Number(options.seed)
const rounds = Number(options.rounds)
/** A repetition of a fast query runs it for this long and counts the mean. */
const repetitionMilliseconds = 5

type Process = ReturnType<typeof connect<ContenderHandlers>>

const comparison = await compare(contenderNames.filter((name) => options.only.split(',').includes(name)))
const markdown = comparisonMarkdown(comparison, checkTargets(comparison))
console.log(`\n${markdown}`)
const results = new URL('results/', import.meta.url)
mkdirSync(results, { recursive: true })
writeFileSync(new URL(`queries-${count}.md`, results), markdown)
writeFileSync(new URL(`queries-${count}.json`, results), `${JSON.stringify(comparison, undefined, 2)}\n`)
if (comparison.disagreements.length > 0) process.exitCode = 1

async function compare(names: readonly ContenderName[]): Promise<Comparison> {
  progress(`choosing queries over ${count} tweets`)
  const classes = queryClasses({ count, seed })
  const processes = new Map<ContenderName, Process>()
  const contenders: ContenderResult[] = []
  const absent: { name: ContenderName; reason: string }[] = []
  for (const name of names) {
    progress(`loading ${name}`)
    const child = connect<ContenderHandlers>(new URL('contender-process.ts', import.meta.url))
    try {
      const load = await child.call('load', { name, count, seed })
      processes.set(name, child)
      contenders.push({ name, ...load })
    } catch (error) {
      absent.push({ name, reason: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' })
      await child.end()
    }
  }
  const { hits, disagreements } = await agree(classes, processes)
  const queries = await measure(classes, hits, processes)
  const finished: ContenderResult[] = []
  for (const contender of contenders) {
    const child = processes.get(contender.name)!
    const { rssBytes } = await child.call('memory', undefined)
    const { bytes, indexBytes } = await child.call('close', undefined)
    finished.push({ ...contender, rssAfterQueriesBytes: rssBytes, disk: bytes, indexBytes })
    await child.end()
  }
  const pairs = processes.has('petaldb')
    ? await importPairs({ count, seed, rounds: Number(options['import-rounds']), batch: 1_000, progress })
    : undefined
  return {
    machine: machine(),
    count,
    seed,
    rounds,
    contenders: finished,
    absent,
    queries,
    disagreements,
    imports: pairs
  }
}

/** Asks everybody everything once: checks the answers, and is the warm-up. */
async function agree(
  classes: readonly QueryClass[],
  processes: ReadonlyMap<ContenderName, Process>
): Promise<{ hits: Map<string, number>; disagreements: string[] }> {
  const hits = new Map<string, number>()
  const disagreements: string[] = []
  for (const query of classes) {
    progress(`checking ${query.title}`)
    let first: { name: string; hits: number; digest: string; ids: number[] } | undefined
    for (const [name, child] of processes) {
      const answer = await child.call('answer', query)
      first ??= { name, ...answer }
      if (answer.digest === first.digest) continue
      const expected = new Set(first.ids)
      const given = new Set(answer.ids)
      const extra = answer.ids.filter((id) => !expected.has(id)).slice(0, 3)
      const missing = first.ids.filter((id) => !given.has(id)).slice(0, 3)
      disagreements.push(
        `${query.name}: ${name} has ${answer.hits} documents, ${first.name} ${first.hits}; ` +
          `only ${name}: [${extra}], only ${first.name}: [${missing}]`
      )
    }
    hits.set(query.name, first?.hits ?? 0)
  }
  return { hits, disagreements }
}

async function measure(
  classes: readonly QueryClass[],
  hits: ReadonlyMap<string, number>,
  processes: ReadonlyMap<ContenderName, Process>
): Promise<QueryResult[]> {
  const samples = new Map(classes.map((query) => [query.name, new Map<ContenderName, number[]>()]))
  // Round −1 is warm-up and not kept.
  for (let round = -1; round < rounds; round++) {
    progress(`round ${round + 1} of ${rounds}`)
    for (const query of classes) {
      for (const [name, child] of processes) {
        const milliseconds = await child.call('time', { query, milliseconds: repetitionMilliseconds })
        if (round < 0) continue
        const kept = samples.get(query.name)!
        kept.set(name, [...(kept.get(name) ?? []), milliseconds])
      }
    }
  }
  return classes.map(({ name, title, filter, limit }) => ({
    name,
    title,
    filter,
    limited: limit !== undefined,
    hits: hits.get(name) ?? 0,
    milliseconds: Object.fromEntries(Array.from(samples.get(name)!, ([who, times]) => [who, spread(times)]))
  }))
}

function progress(message: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${message}`)
  else console.error(message)
}
