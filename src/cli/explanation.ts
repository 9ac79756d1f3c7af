/** Formats the explanation of a find or pipeline for people. */
import type { AggregationExplanation, Explanation, PlanStage } from '../index.ts'
import { formatBytes, formatCount, formatDuration, formatNumberOf, formatPercent } from './format.ts'

/** Lines of `label  value`. */
export function explanationText({ queryPlanner, executionStats, index }: Explanation): string {
  const { segments } = index
  const falsePositives = `${formatCount(index.falsePositives)} (${formatPercent(index.falsePositiveRate)} of those tested)`
  const rows: (readonly [label: string, value: string])[] = [
    ['plan', planText(queryPlanner.winningPlan)],
    ['bounds', index.bounds],
    ...(index.unbounded.length > 0 ? ([['not bounded', index.unbounded.join(', ')]] as const) : []),
    ['segments', `${formatCount(segments.total)}, ${formatCount(segments.pruned)} of them without candidates`],
    ['rows read', `${formatCount(index.rowsRead)} (${formatBytes(index.bytesTouched)})`],
    ['candidates', formatCount(index.candidates)],
    ['certain', `${formatCount(index.certain)} (match without being tested)`],
    ['confirmed', formatCount(index.confirmed)],
    ['false positives', falsePositives],
    ['fetched', formatNumberOf('document', index.documentsFetched)],
    ['returned', formatNumberOf('document', executionStats.nReturned)],
    ['time', formatDuration(index.milliseconds)]
  ]
  const width = Math.max(...rows.map(([label]) => label.length))
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n')
}

/** Formats the read of a pipeline, and a line for each stage that runs over documents. */
export function aggregationText(explanation: AggregationExplanation): string {
  const { pushedDown, read, stages, nReturned, milliseconds } = explanation
  const rows = stages.map(({ stage, position, mode, nReturned: given }): readonly [string, string] => [
    `${stage} (stage ${position})`,
    mode === 'writes'
      ? 'writes; not executed for an explanation'
      : `${mode}, returns ${formatNumberOf('document', given)}`
  ])
  const width = Math.max(0, ...rows.map(([label]) => label.length))
  const isRead = stages[0]?.stage !== '$documents'
  return [
    ...(isRead ? [`read: ${pushedDown.length === 0 ? 'all documents' : pushedDown.join(', ')}`] : []),
    ...(read === undefined ? [] : [explanationText(read).replace(/^/gm, '  ')]),
    ...rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`),
    `${formatNumberOf('document', nReturned)} in ${formatDuration(milliseconds)}`
  ].join('\n')
}

/** `LIMIT 20 ◄ FETCH ◄ BLOOM backward`: each stage reads from the one to its right. */
function planText(stage: PlanStage): string {
  const { stage: name, inputStage, skipAmount, limitAmount, sortPattern, orderedBy, direction, ids } = stage
  const detail =
    skipAmount ?? limitAmount ?? ids ?? (sortPattern === undefined ? undefined : JSON.stringify(sortPattern))
  const order = orderedBy === undefined ? undefined : 'by range codes'
  const words = [name, detail, order, direction === 'backward' ? direction : undefined].filter(
    (word) => word !== undefined
  )
  return `${words.join(' ')}${inputStage === undefined ? '' : ` ◄ ${planText(inputStage)}`}`
}
