/**
 * Do the false positives that the standalone structure predicts agree with observed ones, for every id codec and tail?
 * Run: node --import tsx bench/sharded-bloom.ts [--seed n] [--write]
 *
 * --write updates the table in docs/sharded-bloom.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { grid, measure } from '../test/sharded-bloom/standalone-grid.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, write: { type: 'boolean' } } })

const heads = ['ids', 'pairs', 'tail', 'P', 'M', 'R', 'K', 'bytes per id', 'predicted', 'observed', 'deviation']
const lines = grid.map((point) => {
  const { predicted, observed, bytesPerId } = measure(point, Number(values.seed))
  const deviation = 100 * (observed / predicted - 1)
  return [
    point.codec,
    point.shape,
    point.tail === 'bloom' ? 'bits' : `f = ${point.fingerprintBits}`,
    ...[point.shards, point.bits, point.rowsPerPair, point.bitsPerId].map((number) => number.toLocaleString('en-US')),
    bytesPerId.toFixed(0),
    threeDigits(predicted),
    threeDigits(observed),
    `${deviation < 0 ? '−' : '+'}${Math.abs(deviation).toFixed(0)} %`
  ]
})
const rule = heads.map((_, i) => (i < 3 ? '---' : '---:'))
const table = [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
console.log(table)

if (values.write === true) {
  const page = new URL('../docs/sharded-bloom.md', import.meta.url)
  const marked = /(<!-- grid:begin [^>]*-->\n).*(\n<!-- grid:end -->)/s
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(marked, (_, begin, end) => `${begin}\n${table}\n${end}`)
  )
}

function threeDigits(number: number): string {
  return Number(number.toPrecision(3)).toLocaleString('en-US', { minimumSignificantDigits: 3 })
}
