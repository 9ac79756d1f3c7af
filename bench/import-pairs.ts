/** Compares imports into PetalDB and classic-level, one after the other, each side in its own process. */

import { type Importer, type ImportTimes, importers } from './import-once.ts'
import type { ImportHandlers } from './import-process.ts'
import { significant, table } from './query-report.ts'
import { connect } from './rpc.ts'
import { type Spread, spread } from './statistics.ts'

export interface ImportPairs {
  readonly count: number
  /**
   * Rate of petaldb divided by that of classic-level: the median over the rounds, in each of which both imported within
   * half a minute. The machine's speed changes from minute to minute.
   */
  readonly acknowledgedRatio: number
  readonly closedRatio: number
  /** Rate of petaldb-bytes divided by that of classic-level, until acknowledged. */
  readonly bytesRatio: number
  readonly sides: readonly ImportSide[]
  readonly markdown: string
}

const warmUps = 2

interface ImportSide {
  readonly importer: Importer
  readonly acknowledgedMilliseconds: Spread
  readonly closedMilliseconds: Spread
  readonly processorMilliseconds: Spread
  readonly diskBytes: number
  /** One of each round. */
  readonly runs: readonly ImportTimes[]
}

export interface ImportPairOptions {
  readonly count: number
  readonly seed: number
  readonly batch: number
  readonly rounds: number
  readonly progress: (message: string) => void
}

export async function importPairs({ rounds, progress, ...input }: ImportPairOptions): Promise<ImportPairs> {
  const sides = importers.map((importer) => ({
    importer,
    child: connect<ImportHandlers>(new URL('import-process.ts', import.meta.url)),
    runs: [] as ImportTimes[]
  }))
  for (const { importer, child } of sides) {
    progress(`preparing the import by ${importer}`)
    await child.call('prepare', { importer, ...input })
  }
  // Negative rounds are warm-ups and not counted: each of the first imports of a process is faster than the one before.
  for (let round = -warmUps; round < rounds; round++) {
    progress(round < 0 ? `import ${round + warmUps + 1} of ${warmUps} to warm up` : `import ${round + 1} of ${rounds}`)
    // The order alternates, because the second side finds the disk busy with pages of the first.
    for (const { child, runs } of round % 2 === 0 ? sides : [...sides].reverse()) {
      const times = await child.call('run', undefined)
      if (round >= 0) runs.push(times)
    }
  }
  for (const { child } of sides) await child.end()
  return summarise(
    input.count,
    sides.map(({ importer, runs }) => ({
      importer,
      acknowledgedMilliseconds: spread(runs.map((run) => run.acknowledgedMilliseconds)),
      closedMilliseconds: spread(runs.map((run) => run.closedMilliseconds)),
      processorMilliseconds: spread(runs.map((run) => run.processorMilliseconds)),
      diskBytes: runs.at(-1)?.diskBytes ?? 0,
      runs
    }))
  )
}

function summarise(count: number, sides: readonly ImportSide[]): ImportPairs {
  const [ours, bytes, , theirs] = importers.map((name) => sides.find(({ importer }) => importer === name))
  if (ours === undefined || bytes === undefined || theirs === undefined) throw new TypeError('all sides must have run')
  const rate = (times: Spread): string =>
    `${significant(count / times.median)} (${significant(count / times.max)}–${significant(count / times.min)})`
  const perDocument = (time: number): string => significant((time / count) * 1000)
  const microseconds = ({ median, min, max }: Spread): string =>
    `${perDocument(median)} (${perDocument(min)}–${perDocument(max)})`
  return {
    count,
    acknowledgedRatio: ratioOf(ours, theirs, 'acknowledgedMilliseconds'),
    closedRatio: ratioOf(ours, theirs, 'closedMilliseconds'),
    bytesRatio: ratioOf(bytes, theirs, 'acknowledgedMilliseconds'),
    sides,
    markdown: table(
      [
        '',
        'documents per ms until acknowledged',
        'until closed',
        'processor, all threads, µs per document',
        'disk, MB'
      ],
      sides.map((side) => [
        side.importer,
        rate(side.acknowledgedMilliseconds),
        rate(side.closedMilliseconds),
        microseconds(side.processorMilliseconds),
        (side.diskBytes / 1e6).toFixed(1)
      ])
    )
  }
}

function ratioOf(
  ours: ImportSide,
  theirs: ImportSide,
  time: 'acknowledgedMilliseconds' | 'closedMilliseconds'
): number {
  return spread(ours.runs.map((run, round) => theirs.runs[round]![time] / run[time])).median
}
