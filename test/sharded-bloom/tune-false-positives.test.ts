/** The false positives predicted by the formulas of docs/tuning.md agree with the observed ones. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Comparison,
  comparePlain,
  compareRows,
  plainGrid,
  rowGrid,
  type ShapeName
} from '../support/false-positive-grid.ts'

const seed = 20_261_120
const tolerance = 0.2

function assertClose({ predicted, observed, falsePositives }: Comparison, what: string): void {
  const deviation = observed / predicted - 1
  const said = `${what}: predicted ${predicted}, observed ${observed} (${falsePositives} false positives)`
  assert.ok(falsePositives >= 300, `${said} are too few to tell`)
  assert.ok(Math.abs(deviation) <= tolerance, said)
}

const rows = rowGrid.map((point) => ({ point, comparison: compareRows(point, seed) }))

for (const shape of ['even', 'uneven', 'mixed'] satisfies ShapeName[]) {
  test(`rows of ${shape} documents have within 20 % of the false positives predicted from the histogram`, () => {
    for (const { point, comparison } of rows) {
      if (point.shape === shape) assertClose(comparison, JSON.stringify(point))
    }
  })
}

test('predictions from the mean of pairs per document fit even documents, and are far too low for mixed ones', () => {
  for (const { point, comparison } of rows) {
    const { byMean, observed } = comparison
    if (point.shape === 'even') assert.ok(Math.abs(observed / byMean - 1) <= tolerance, JSON.stringify(point))
    if (point.shape === 'mixed') assert.ok(observed > 5 * byMean, `${JSON.stringify(point)}: ${byMean}, ${observed}`)
  }
})

test('the plain structure has within 20 % of the false positives predicted with shared positions', () => {
  for (const point of plainGrid) assertClose(comparePlain(point, seed), JSON.stringify(point))
})

test.run()
