/**
 * Checks PetalDB's answers on any NDJSON files (plain or gzip): compares queries by generated filters with a scan,
 * before and after sealing, reopening, deletes and updates.
 *
 *     npm run check:answers -- [--queries 500] [--seed n] [--segment-bits 1024] file.ndjson[.gz] …
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import type { Document } from '../src/index.ts'
import { parseJson } from '../src/model/extended-json.ts'
import { checkAnswers } from '../test/support/answer-check.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    queries: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    'segment-bits': { type: 'string', default: '1024' }
  }
})

console.log(`seed ${values.seed}`)
for (const file of positionals) {
  const bytes = readFileSync(file)
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8')
  const documents = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => parseJson(line) as Document)
  const started = performance.now()
  console.log(`${basename(file)}: ${documents.length} documents`)
  await checkAnswers(documents, {
    queries: Number(values.queries),
    seed: Number(values.seed),
    segmentBits: Number(values['segment-bits']),
    log: (line) => console.log(`  ${line}`)
  })
  console.log(`  all answers right, ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
