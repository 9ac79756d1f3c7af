/**
 * How long does PetalDB delay the event loop while it imports, seals and rebuilds? Nothing else runs in the process; in
 * some phases, a query every few milliseconds stands for its other work.
 *
 *     npm run build && node --import tsx bench/event-loop.ts [--count 200000 --output bench/results]
 *
 * Users notice waits by the clock, which are meaningful only on an otherwise idle machine. The processor time of each
 * turn of the loop is reported too. What the machine itself imposes shows in two phases without a database: one where
 * nothing runs, and one where two threads fill new memory, as builders of segments do.
 *
 * The tweets are in a file: in memory, where a gigabyte of them made the first touch of each page dearer on a virtual
 * machine, they made everyone's waits longer, two idle threads' too.
 */
import { fsyncSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import type { Database } from '../src/index.ts'
import type { Document } from '../src/model/types.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { lineBlocks } from './import-once.ts'
import { LoopMeter, type LoopReport, type Quantiles } from './loop-meter.ts'
import { machine } from './machine.ts'
import { header, table } from './query-report.ts'

/** Milliseconds. */
const targets = { p99: 5, max: 20 }
const segmentDocuments = 65_536
const maxSeals = 12
const batchDocuments = 1000
const bufferBytes = 64 * 1024
const busyThreads = 2
const busyMilliseconds = 3000

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '200000' }, output: { type: 'string' } }
})
const count = Number(options.count)

/** Works without the flag --expose-gc too. */
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const directory = mkdtempSync(join(tmpdir(), 'petaldb-bench-event-loop-'))
const linesFile = join(directory, 'tweets.ndjson')
const tweetAt = writeLines()
const phases: [name: string, report: LoopReport][] = []

/** @returns what parses one of the lines, of which few are in memory */
function writeLines(): (n: number) => Document {
  const starts = new Float64Array(count + 1)
  let size = 0
  let lines = 0
  const file = openSync(linesFile, 'w+')
  for (const block of lineBlocks({ count, seed: 1, batch: batchDocuments })) {
    for (let end = block.indexOf('\n'); end >= 0; end = block.indexOf('\n', end + 1)) starts[++lines] = size + end + 1
    writeFileSync(file, block)
    size += block.length
  }
  // Otherwise the system would write it while something is measured.
  fsyncSync(file)
  const buffer = Buffer.alloc(bufferBytes)
  let from = 0
  let to = 0
  return (n) => {
    const [start = 0, end = 0] = starts.subarray(n, n + 2)
    if (start < from || end > to) {
      from = start
      to = start + readSync(file, buffer, 0, buffer.length, start)
    }
    return JSON.parse(buffer.toString('utf8', start - from, end - from)) as Document
  }
}

async function phase(name: string, run: (meter: LoopMeter) => Promise<void>): Promise<void> {
  console.error(name)
  // The garbage of the previous phase must not count in this one.
  collectGarbage()
  await sleep(200)
  const meter = new LoopMeter()
  meter.resume()
  await run(meter)
  meter.pause()
  phases.push([name, meter.report()])
}

/** Two threads write to new memory, without a database. */
async function besideBusyThreads(): Promise<void> {
  const program = 'for (;;) new Uint8Array(4 * 1024 * 1024).fill(1)'
  const threads = Array.from({ length: busyThreads }, () => new Worker(program, { eval: true }))
  await sleep(busyMilliseconds)
  await Promise.all(threads.map((thread) => thread.terminate()))
}

/** Inserts tweets `from` to `to`, parsed batch by batch while the meter is paused. */
async function insert(db: Database, from: number, to: number, meter?: LoopMeter): Promise<void> {
  for (let begin = from; begin < to; begin += batchDocuments) {
    meter?.pause()
    const documents: Document[] = []
    for (let n = begin; n < Math.min(to, begin + batchDocuments); n++) documents.push(tweetAt(n))
    await turn()
    meter?.resume()
    await db.insertMany(documents)
  }
}

function* parsed(): Generator<Document> {
  for (let n = 0; n < count; n++) yield tweetAt(n)
}

const queries: readonly Document[] = [
  { id_str: tweetAt(0).id_str },
  { lang: 'en', 'user.verified': true, 'entities.hashtags.text': 'news' },
  { 'user.screen_name': 'nobody at all' }
]

async function besideQueries(db: Database, work: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    for (const filter of queries) await db.find(filter, { limit: 20 }).toArray()
    await sleep(2)
  }
  await over
}

try {
  await phase('nothing at all', () => sleep(500))
  await phase('no database, two threads that fill new memory', besideBusyThreads)
  {
    await using db = await openDatabase(join(directory, 'objects'))
    await phase('import of objects, insertMany of 1,000', (meter) => insert(db, 0, count, meter))
    await phase('rebuild', async () => {
      await db.index.rebuild()
    })
    await phase('rebuild beside queries', () => besideQueries(db, db.index.rebuild()))
  }
  {
    await using db = await openDatabase(join(directory, 'one call'))
    await phase('import of objects, one insertMany, parsed on the way', async () => {
      await db.insertMany(parsed())
    })
  }
  {
    await using db = await openDatabase(join(directory, 'lines'))
    await phase('import of lines', async () => {
      await db.importLines(linesFile)
    })
  }
  if (count >= segmentDocuments) {
    await using db = await openDatabase(join(directory, 'seal'))
    collectGarbage()
    const meters = new LoopMeter()
    for (let n = 1; n <= Math.min(maxSeals, Math.floor(count / segmentDocuments)); n++) {
      await insert(db, (n - 1) * segmentDocuments, n * segmentDocuments - 1)
      await sleep(200)
      meters.resume()
      await insert(db, n * segmentDocuments - 1, n * segmentDocuments)
      // The next write waits for the seal.
      await db.deleteOne({ _id: 'nobody' })
      meters.pause()
    }
    phases.push(['seal', meters.report()])
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}

const cells = ({ p50, p99, max }: Quantiles): string[] => [p50, p99, max].map((value) => value.toFixed(1))
const rows = phases.map(([name, { wait, processor, duration }]) => [
  name,
  (duration / 1000).toFixed(1),
  ...cells(wait),
  ...(processor === undefined ? ['–', '–', '–'] : cells(processor)),
  wait.p99 <= targets.p99 && wait.max <= targets.max ? 'met' : 'NOT met'
])
const markdown = `# How long the event loop waits

${header(machine(), `node --import tsx bench/event-loop.ts --count ${count}`)}

Milliseconds, ${count.toLocaleString('en')} tweets. *Wait* is by the clock, beyond the timer's own millisecond. *Processor* is what
one turn of the loop took of this thread, collector included; other processes do not lengthen it. The target is a
wait of at most ${targets.p99} at p99 and ${targets.max} at worst.

${table(['phase', 's', 'wait p50', 'p99', 'worst', 'processor p50', 'p99', 'worst', 'target'], rows)}
`
console.log(markdown)
if (options.output !== undefined) {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, 'event-loop.md'), markdown)
}
