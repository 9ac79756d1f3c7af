/** Explains a choice in words. */
import type { Contender, Goal, Ground } from './policy.ts'

/** @param contender the one taken */
export function reasonFor(ground: Ground, contender: Contender, goal: Goal): string {
  const bytes = `${contender.bytesPerDocument.toFixed(1)} bytes per document`
  const rate = `${perMillion(contender.falsePositiveRate)} false positives and ${perMillion(contender.reads / 1e6)} reads per query and million documents`
  const target = goal.targetFpr === undefined ? '' : `the target of ${perMillion(goal.targetFpr)}`
  const budget = goal.bytesPerDocument === undefined ? '' : `the budget of ${goal.bytesPerDocument.toFixed(1)} bytes`
  const limits = [target, budget].filter((limit) => limit !== '').join(' and ')
  switch (ground) {
    case 'smallest':
      return `The smallest index that meets ${limits}, or up to a tenth larger for fewer reads: ${bytes}, ${rate}.`
    case 'most-exact':
      return `The fewest false positives within ${budget}: ${rate}, ${bytes}.`
    case 'present':
      return `The current parameters are as good as any that meet ${limits}: ${bytes}, ${rate}.`
    case 'target-missed':
      return `No parameters meet ${limits}; these come closest: ${rate}, ${bytes}.`
    case 'budget-missed':
      return `No parameters meet ${budget}; these give the smallest index: ${bytes}, ${rate}.`
  }
}

/** Describes what another M would save. */
export function adviceFor(segmentDocuments: number, taken: Contender, other: Contender): string {
  const saved = taken.bytesPerDocument - other.bytesPerDocument
  return `Segments of ${segmentDocuments} documents (segmentBits) would save ${saved.toFixed(1)} bytes per document.`
}

function perMillion(rate: number): string {
  const count = rate * 1e6
  return count >= 10 || count === 0 ? count.toFixed(0) : count.toPrecision(2)
}
