/** The pictures, by the names of their files in docs/img. */
import { readFileSync } from 'node:fs'
import { type Comparison, comparisonPlot } from './comparison-plot.ts'
import { indexPicture } from './index-picture.ts'

const results = new URL('../../bench/results/million-1000000.json', import.meta.url)

export function pictures(): ReadonlyMap<string, string> {
  const comparison: Comparison = JSON.parse(readFileSync(results, 'utf8'))
  return new Map([
    ['comparison.svg', comparisonPlot(comparison)],
    ['index.svg', indexPicture()]
  ])
}
