/**
 * How large is the index, with which columns? Inserts generated tweets in calls of a thousand, with each `rangeCodes`,
 * and reports the bytes that the index stores, by part.
 *
 *     npm run build && node --import tsx bench/index-bytes.ts [--count 1000000 --output bench/results]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { CollectionStats } from '../src/index.ts'
import { generateTweets } from '../src/workload/tweets.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { machine } from './machine.ts'
import { header, table } from './query-report.ts'

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '1000000' }, output: { type: 'string' } }
})
const count = Number(options.count)
const batch = 1000

type IndexBytes = CollectionStats['index']['bytes']
const parts = ['hashedRows', 'privateRows', 'rangeCodes', 'upperLevel', 'directory'] as const
const titles = ['hashed rows', 'private rows', 'columns', 'upper level', 'directories and pairs'] as const

/** Highest bytes per document, directories included. */
const targets = { auto: 95, all: 110 } as const

async function measure(rangeCodes: 'auto' | 'numbers' | 'all' | 'none'): Promise<IndexBytes> {
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-index-bytes-'))
  try {
    const location = join(directory, 'tweets.db')
    const db = await openDatabase(location, { index: { rangeCodes } })
    for (let start = 0; start < count; start += batch) {
      await db.insertMany([...generateTweets({ count: Math.min(batch, count - start), seed: 1, start })])
    }
    await db.close()
    // Opened again, so that what was still in memory is counted as it is stored.
    await using again = await openDatabase(location, { index: { rangeCodes } })
    return (await again.index.stats()).bytes
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const rows: string[][] = []
for (const rangeCodes of ['auto', 'numbers', 'all', 'none'] as const) {
  console.error(rangeCodes)
  const bytes = await measure(rangeCodes)
  const each = (total: number): string => (total / count).toFixed(1)
  const target = rangeCodes in targets ? targets[rangeCodes as keyof typeof targets] : undefined
  const isMet = target !== undefined && bytes.total <= target * count
  const verdict = target === undefined ? '–' : `at most ${target}: ${isMet ? 'met' : 'NOT met'}`
  rows.push([`\`'${rangeCodes}'\``, ...parts.map((part) => each(bytes[part])), each(bytes.total), verdict])
}

const report = `# Bytes of index per document

${header(machine(), `node --import tsx bench/index-bytes.ts --count ${count}`)}

${count.toLocaleString('en')} generated tweets of 0.9 KB, inserted in calls of ${batch.toLocaleString('en')}; everything that the index stores, with the
segment that is not full yet.

${table(['`rangeCodes`', ...titles, 'all', 'target'], rows)}
`
if (options.output === undefined) console.log(report)
else {
  mkdirSync(options.output, { recursive: true })
  writeFileSync(join(options.output, `index-bytes-${count}.md`), report)
}
