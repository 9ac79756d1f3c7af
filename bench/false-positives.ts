/**
 * Do the predicted false-positive rates agree with observed ones, in real segments and in the plain structure?
 * Run: node --import tsx bench/false-positives.ts [--seed n] [--write]
 *
 * --write updates the tables in docs/tuning.md and the plot docs/img/false-positives.svg.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Comparison, comparePlain, compareRows, plainGrid, rowGrid } from '../test/support/false-positive-grid.ts'
import { logPlot, type Series } from './log-plot.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, write: { type: 'boolean' } } })
const seed = Number(values.seed)
const docs = new URL('../docs/', import.meta.url)

const rows = rowGrid.map((point) => ({ point, ...compareRows(point, seed) }))
const plain = plainGrid.map((point) => ({ point, ...comparePlain(point, seed) }))

const tables = [
  table(
    ['documents', 'bits per pair', 'r', 'P', 'by the mean', 'by the histogram', 'observed', 'deviation'],
    rows.map(({ point, ...comparison }) => [
      point.shape,
      String(point.bitsPerPosting),
      String(point.rowsPerPair),
      String(comparison.shards),
      ...ratesOf(comparison)
    ])
  ),
  '',
  'The plain structure, 4,096 ids:',
  '',
  table(
    ['documents', 'P', 'M', 'R', 'K', 'textbook', 'by the histogram', 'observed', 'deviation'],
    plain.map(({ point, ...comparison }) => [
      point.shape,
      String(point.shards),
      point.bits.toLocaleString('en-US'),
      String(point.rowsPerPair),
      String(point.bitsPerId),
      ...ratesOf(comparison)
    ])
  )
].join('\n')

console.log(tables)

if (values.write === true) {
  const page = new URL('tuning.md', docs)
  const marked = /(<!-- false-positives:begin [^>]*-->\n).*(\n<!-- false-positives:end -->)/s
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(marked, (_, begin, end) => `${begin}\n${tables}\n${end}`)
  )
  writeFileSync(new URL('img/false-positives.svg', docs), plot())
}

function ratesOf({ byMean, predicted, observed }: Comparison): string[] {
  const deviation = 100 * (observed / predicted - 1)
  return [byMean, predicted, observed]
    .map(rateText)
    .concat(`${deviation < 0 ? '−' : '+'}${Math.abs(deviation).toFixed(0)} %`)
}

function rateText(rate: number): string {
  return rate.toExponential(1).replace('e-', 'e−')
}

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = heads.map((_, i) => (i === 0 ? '---' : '---:'))
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function plot(): string {
  const series = (label: string, colour: string, isFilled: boolean, points: Series['points']): Series => ({
    label,
    colour,
    isFilled,
    points
  })
  return logPlot({
    title: 'False positives per document and absent pair',
    x: 'predicted',
    y: 'observed',
    tolerance: 0.2,
    series: [
      series(
        'rows, from the histogram',
        '#1a6b3c',
        true,
        rows.map(({ predicted, observed }) => [predicted, observed])
      ),
      series(
        'rows, from the mean',
        '#b5452c',
        false,
        rows.map(({ byMean, observed }) => [byMean, observed])
      ),
      series(
        'plain structure, from the histogram',
        '#2c5fb5',
        true,
        plain.map(({ predicted, observed }) => [predicted, observed])
      )
    ]
  })
}
