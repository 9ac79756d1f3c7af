/** Formats the result of tuning for people. */
import type { TuneChoice, TuneResult } from '../index.ts'
import { formatBytes, formatCount, formatTable } from './format.ts'

/** @param documents number of documents in the collection, for total sizes */
export function tuneReport(result: TuneResult, documents: number): string {
  const { sample, queries, choices, taken, reason, considered, stored } = result
  const { mean, median, percentile99, most } = sample.hashedPairs
  const asked = queries.areProbes
    ? `${queries.tried} probes, because no queries were given`
    : `${queries.tried} of ${formatCount(queries.given)} different queries, ${queries.terms.toFixed(1)} terms each`
  const heads = [
    '',
    'tail',
    'P',
    'M',
    'R',
    'bits',
    'private',
    'upper',
    'B/doc',
    '',
    'total',
    'false/M',
    '',
    'reads/M',
    'time'
  ]
  const units = [
    '',
    '',
    '',
    '',
    '',
    '/pair',
    'from',
    'level',
    'predicted',
    'measured',
    '',
    'predicted',
    'measured',
    '',
    'µs'
  ]
  const rows = choices.map((choice, i) => rowOf(choice, i === taken, documents))
  const share = choices[taken]!.needsNewIndex ? [] : [outcomeText(stored, choices[taken]!.isPresent)]
  return [
    `sample   ${formatCount(sample.documents)} of ${formatCount(documents)} documents`,
    `pairs    ${mean.toFixed(1)} hashed per document; median ${median}, 99 % ≤ ${percentile99}, maximum ${most}`,
    `queries  ${asked}`,
    `choices  ${considered} considered, ${choices.length} built`,
    '',
    ...formatTable([heads, units, ...rows], 'llrrrrrlr'),
    '',
    'Per query and million documents. false/M: documents fetched unnecessarily; ~ marks too few for a reliable measurement,',
    'where the prediction is used instead. reads/M: rows and unnecessary documents read. time: in the index, warm.',
    '',
    reason,
    ...share
  ].join('\n')
}

function rowOf(choice: TuneChoice, isTaken: boolean, documents: number): string[] {
  const { predicted, measured } = choice
  // Fingerprints have neither rows nor an upper level.
  const ofRows = (text: string): string => (choice.tail === 'bloom' ? text : '')
  const marks = `${isTaken ? '→' : ' '}${choice.isPresent ? ' now' : ''}`
  return [
    marks,
    choice.tail === 'bloom' ? 'Bloom' : 'fingerprints',
    ofRows(String(choice.shards)),
    formatCount(choice.segmentDocuments),
    ofRows(String(choice.rowsPerPair)),
    ofRows(String(choice.bitsPerPosting)),
    `1/${Math.round(1 / choice.privateShare)}`,
    ofRows(choice.upperLevel ? 'yes' : 'no'),
    predicted.bytesPerDocument.toFixed(1),
    measured.bytesPerDocument.toFixed(1),
    formatBytes(measured.bytesPerDocument * documents),
    perMillion(predicted.falsePositiveRate),
    `${measured.isTelling ? '' : '~'}${perMillion(measured.falsePositiveRate)}`,
    perMillion(predicted.reads / 1e6),
    measured.microseconds.toFixed(0)
  ]
}

function outcomeText(stored: boolean, isPresent: boolean): string {
  if (!stored) return 'Dry run: nothing was changed.'
  return isPresent
    ? 'These parameters stay in effect.'
    : 'Stored: these parameters apply to future segments, and to all segments once the index is rebuilt.'
}

function perMillion(rate: number): string {
  const count = rate * 1e6
  return count >= 100 ? formatCount(count) : count.toFixed(1)
}
