/**
 * Does a queue stay fast as documents go through it? Inserts a document and takes the one with the least `_id`, again and
 * again, in PetalDB, SQLite and LevelDB, each in its own process and on disk, without an fsync per write.
 *
 *     npm run build
 *     node --import tsx bench/queue.ts [--count 20000 --each 10000 --rounds 8 --output bench/results]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { machine } from './machine.ts'
import { header, significant, table } from './query-report.ts'
import { connect } from './rpc.ts'
import type { QueueHandlers, QueueState } from './single/queue-process.ts'
import type { SingleStoreName } from './single/store.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    each: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '8' },
    only: { type: 'string' },
    output: { type: 'string' }
  }
})
const [count, each, rounds] = [Number(options.count), Number(options.each), Number(options.rounds)]
/** Stores that find the least key without a scan. */
const names = (['petaldb', 'sqlite-indexed', 'sqlite', 'classic-level'] satisfies SingleStoreName[]).filter(
  (name) => options.only?.split(',').includes(name) ?? true
)

interface Side {
  readonly name: SingleStoreName
  readonly description: string
  readonly child: ReturnType<typeof connect<QueueHandlers>>
  readonly states: QueueState[]
}

const sides: Side[] = []
for (const name of names) {
  const child = connect<QueueHandlers>(new URL('single/queue-process.ts', import.meta.url))
  sides.push({ name, description: await child.call('prepare', { name, count }), child, states: [] })
}
for (let round = 0; round < rounds; round++) {
  console.error(`round ${round + 1} of ${rounds}`)
  // The order alternates.
  for (const { child, states } of round % 2 === 0 ? sides : [...sides].reverse()) {
    states.push(await child.call('round', each))
  }
}
for (const { child } of sides) {
  await child.call('close', undefined)
  await child.end()
}

/** The rounds that are reported: the first, the last, and some in between. */
const reported = [...new Set([0, Math.floor(rounds / 4), Math.floor(rounds / 2), rounds - 1])]

function cell({ insert, take, diskBytes, residentBytes }: QueueState): string {
  const megabytes = [diskBytes, residentBytes].map((bytes) => (bytes / 1e6).toFixed(0)).join(' · ')
  return `${significant(insert)} + ${significant(take)} · ${megabytes}`
}

const markdown = [
  '# A queue\n',
  header(machine(), `node --import tsx bench/queue.ts --count ${count} --each ${each} --rounds ${rounds}`),
  '',
  ...sides.map(({ name, description }) => `* **${name}**: ${description}`),
  `\n${count.toLocaleString('en')} generated tweets are in it all the time; one is inserted and the one with the least \`_id\` is taken, ${each.toLocaleString('en')}`,
  'times a round. Microseconds per insert + per take · megabytes on disk · megabytes resident, after a forced collection. Writes',
  'survive the process, not the power.\n',
  table(
    ['taken before', ...names],
    reported.map((round) => [(round * each).toLocaleString('en'), ...sides.map(({ states }) => cell(states[round]!))])
  )
].join('\n')
console.log(`${markdown}\n`)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, `queue-${count}.md`), `${markdown}\n`)
}
