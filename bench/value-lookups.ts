/**
 * What does it cost to find entries of a store by value? Looks up absent values, unique values, values of 16 entries,
 * the ten newest of a common value, and a range of 100, with each filter index, and compares with a full scan.
 *
 * Entries have about 1 KB, and ten fields are extracted. Keys ascend with time, like those of tweets; with random keys,
 * every table has entries of all times, so that the newest and a range are spread over all tables.
 *
 * Run: node --import tsx bench/value-lookups.ts [--count 1000000] [--random] [--output bench/results]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { jsonExtractor, LsmLevel, type ValueOptions } from '../src/lsm/index.ts'
import { machine } from './machine.ts'
import { header, table } from './query-report.ts'
import { type Spread, spreadOf } from './spread.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    random: { type: 'boolean', default: false },
    output: { type: 'string' }
  }
})
const count = Number(options.count)
const batchSize = 1000

const fields = ['unique', 'time', 'group', 'rare', 'a', 'b', 'c', 'd', 'e', 'f']
const extractor = jsonExtractor({ fields, zones: ['time'] })
const words = 'the quick brown fox jumps over a lazy dog while seven wizards mix black quartz and liquid vow'.split(' ')

/** Spreads a number over 32 bits. */
const spread32 = (n: number): number => Math.imul(n ^ (n >>> 13), 0x9e3779b1) >>> 0

const keyOf = (n: number): string => (options.random ? spread32(n) : n).toString(16).padStart(8, '0')

/** Text that compresses to about half, like tweets. */
function textOf(n: number): string {
  let text = ''
  for (let i = 0; text.length < 800; i++)
    text += `${words[spread32(n * 131 + i) % words.length]} ${spread32(n + i) % 1000} `
  return text
}

function documentOf(n: number): string {
  const small = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((field, i) => [field, `${field}${(n * (i + 3)) % 997}`])
  )
  return JSON.stringify({
    unique: `u${n}`,
    time: n,
    group: `g${n % 100}`,
    rare: `r${n >> 4}`,
    ...small,
    text: textOf(n)
  })
}

/**
 * Tables have so many blocks that with 10 bits, which yield one false positive in 120 blocks, a lookup would read more
 * false positives than blocks it needs.
 */
const blockFilterBits = 16

const configurations: Readonly<Record<string, Partial<ValueOptions>>> = {
  'sliced, block filters': { index: 'sliced', blockFilterBits },
  'tree, block filters': { index: 'tree', blockFilterBits },
  'linear, block filters': { index: 'linear', blockFilterBits },
  'sliced, no memory': { index: 'sliced', blockFilterBits, filterMemory: 0 }
}

async function drain(entries: AsyncIterable<unknown>): Promise<number> {
  let found = 0
  for await (const _ of entries) found++
  return found
}

/** The project's targets: maximum microseconds of warm lookups among a million entries. */
const targets = { absent: 30, unique: 150 }

/** Number of untimed lookups before each measure, unless time runs out; the compiler needs some 3,000. */
const warmUps = 3000
const maxWarmUpMilliseconds = 1500

async function micro(repetitions: number, ask: (i: number) => Promise<number>, expected?: number): Promise<Spread> {
  const times: number[] = []
  const begin = performance.now()
  for (let i = 0; i < warmUps && performance.now() - begin < maxWarmUpMilliseconds; i++) await ask(repetitions + i)
  for (let i = 0; i < repetitions; i++) {
    const start = performance.now()
    const found = await ask(i)
    times.push((performance.now() - start) * 1000)
    if (expected !== undefined && found !== expected) throw new Error(`${found} entries found, expected ${expected}`)
  }
  return spreadOf(times)
}

/** Fills the store. @returns seconds */
async function write(location: string): Promise<number> {
  const start = performance.now()
  const writer = new LsmLevel(location, { values: { extractor, blockFilterBits } })
  for (let n = 0; n < count; n += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, count - n) }, (_, i) => ({
      type: 'put' as const,
      key: keyOf(n + i),
      value: documentOf(n + i)
    }))
    await writer.batch(batch)
  }
  await writer.compactRange('', '~')
  await writer.close()
  return (performance.now() - start) / 1000
}

interface Answer {
  readonly name: string
  readonly tables: number
  readonly firstMilliseconds: number
  readonly absent: Spread
  readonly unique: Spread
  readonly rare: Spread
  readonly newest: Spread
  readonly range: Spread
  readonly filterBytes: number
}

async function measure(location: string, name: string, values: Partial<ValueOptions>): Promise<Answer> {
  const db = new LsmLevel(location, { values: { extractor, ...values } })
  await db.open()
  const start = performance.now()
  await drain(db.lookup(['unique', 'nobody']))
  const firstMilliseconds = performance.now() - start
  const some = (i: number): number => (i * 7919) % (count - 100)
  const absent = await micro(1000, (i) => drain(db.lookup(['unique', `x${i}`])), 0)
  const unique = await micro(400, (i) => drain(db.lookup(['unique', `u${some(i)}`])), 1)
  const rare = await micro(100, (i) => drain(db.lookup(['rare', `r${some(i % 50) >> 4}`])))
  const newest = await micro(10, (i) => drain(db.lookup(['group', `g${i % 100}`], { limit: 10 })), 10)
  const range = await micro(10, (i) => drain(db.rangeLookup('time', some(i), some(i) + 99)), 100)
  const stats = db.valueStats()
  await db.close()
  const filterBytes = (stats?.filterMemoryBytes ?? 0) + (stats?.sectionMemoryBytes ?? 0)
  return { name, tables: stats?.tables ?? 0, firstMilliseconds, absent, unique, rare, newest, range, filterBytes }
}

/** Milliseconds to find one entry by reading all entries. */
async function fullScan(location: string): Promise<number> {
  const db = new LsmLevel(location)
  const start = performance.now()
  let found = 0
  for await (const value of db.values()) {
    if (value.includes('"unique":"u77"') && JSON.parse(value).unique === 'u77') found++
  }
  const milliseconds = performance.now() - start
  await db.close()
  if (found !== 1) throw new Error(`${found} entries found, expected 1`)
  return milliseconds
}

function range({ median, low, high }: Spread): string {
  return `${median.toFixed(0)} (${low.toFixed(0)}–${high.toFixed(0)})`
}

function report(answers: readonly Answer[], writeSeconds: number, scanMilliseconds: number): string {
  const kinds = ['absent', 'unique', 'rare', 'newest', 'range'] as const
  const [first] = answers
  const checks = first === undefined ? [] : [check('absent', first), check('unique', first)]
  return `# ${count.toLocaleString('en')} entries of 1 KB, found by value

${header(machine(), `node --import tsx bench/value-lookups.ts --count ${count}${options.random ? ' --random' : ''}`)}

Microseconds, median (quartiles), warm; ${options.random ? 'keys in no order' : 'keys ascend with time'}.

${table(
  [
    'index',
    'tables',
    'first lookup, ms',
    'absent',
    'unique',
    '16 entries',
    'ten newest of 1 %',
    'range of 100',
    'filters, MiB'
  ],
  answers.map((answer) => [
    answer.name,
    String(answer.tables),
    answer.firstMilliseconds.toFixed(0),
    ...kinds.map((kind) => range(answer[kind])),
    (answer.filterBytes / 2 ** 20).toFixed(1)
  ])
)}

* full scan for one entry: ${scanMilliseconds.toFixed(0)} ms
* written and merged in ${writeSeconds.toFixed(1)} s
${checks.join('\n')}
`
}

function check(kind: keyof typeof targets, answer: Answer): string {
  const { median } = answer[kind]
  const verdict = median <= targets[kind] ? 'met' : 'NO'
  return `* target: ${kind} ≤ ${targets[kind]} µs, ${answer.name}: ${median.toFixed(0)} µs: ${verdict}`
}

const location = mkdtempSync(join(tmpdir(), 'petaldb-value-lookups-'))
try {
  const writeSeconds = await write(location)
  const answers: Answer[] = []
  for (const [name, values] of Object.entries(configurations)) {
    const answer = await measure(location, name, values)
    console.error(`${name}: absent ${range(answer.absent)}, unique ${range(answer.unique)}`)
    answers.push(answer)
  }
  const markdown = report(answers, writeSeconds, await fullScan(location))
  console.log(markdown)
  if (options.output !== undefined) {
    mkdirSync(options.output, { recursive: true })
    writeFileSync(join(options.output, `value-lookups-${count}.md`), markdown)
  }
} finally {
  rmSync(location, { recursive: true, force: true })
}
