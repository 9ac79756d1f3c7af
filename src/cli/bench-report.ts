/** Formats the results of `petaldb bench` for people. */
import { availableParallelism, cpus, totalmem } from 'node:os'
import type { QueryTimes } from './bench-queries.ts'
import { formatBytes, formatCount, formatDuration, formatTable } from './format.ts'

export interface BenchReport {
  /** Processor, Node version and date: figures from different ones cannot be compared. */
  readonly machine: string
  readonly count: number
  readonly seed: number
  /** Bytes of the imported lines. */
  readonly jsonBytes: number
  /** From opening the new database until it is closed. */
  readonly importMilliseconds: number
  readonly documentsPerSecond: number
  /** Total size of the files of the closed database. */
  readonly diskBytes: number
  readonly indexBytes: number
  readonly indexBytesPerDocument: number
  /** Time to reopen the database in the process that created it. */
  readonly openMilliseconds: number
  readonly queries: readonly QueryTimes[]
}

export function machineText(): string {
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor'
  const size = `${availableParallelism()} cores, ${formatBytes(totalmem())}`
  const date = new Date().toISOString().slice(0, 10)
  return `${processor}, ${size}; Node ${process.version}, ${process.platform} ${process.arch}; ${date}`
}

export function benchText(report: BenchReport): string {
  const { machine, count, seed, queries } = report
  const different = queries.filter(({ isSame }) => !isSame).map(({ title }) => title)
  return [
    `${formatCount(count)} generated tweets, seed ${seed}`,
    machine,
    '',
    ...totals(report),
    '',
    ...queryTable(queries),
    '',
    'Milliseconds until all hits are read. first: first run after opening; warm: median of repeated runs; scan: median',
    'without the index.',
    different.length === 0
      ? `With and without the index, all ${queries.length} queries found the same documents.`
      : `With and without the index, THE DOCUMENTS DIFFER: ${different.join(', ')}.`,
    'README.md compares other databases on the same queries, under "How it compares".'
  ].join('\n')
}

function totals(report: BenchReport): readonly string[] {
  const { count, jsonBytes, importMilliseconds, documentsPerSecond, diskBytes, indexBytes, openMilliseconds } = report
  const size = (bytes: number): string => `${formatBytes(bytes)}, ${formatCount(bytes / count)} bytes per document`
  const rate = `${formatCount(documentsPerSecond)} documents/s`
  return formatTable(
    [
      ['import', `${rate}, ${formatDuration(importMilliseconds)} including the close`],
      ['JSON', size(jsonBytes)],
      ['on disk', `${size(diskBytes)}, including the index`],
      ['index', size(indexBytes)],
      ['reopen', formatDuration(openMilliseconds)]
    ],
    'l'
  )
}

function queryTable(queries: readonly QueryTimes[]): readonly string[] {
  const rows = queries.map(({ title, hits, firstMilliseconds, warmMilliseconds, scanMilliseconds }) => [
    title,
    formatCount(hits),
    significant(firstMilliseconds),
    significant(warmMilliseconds),
    significant(scanMilliseconds),
    `${significant(scanMilliseconds / warmMilliseconds)}×`
  ])
  return formatTable([['query', 'hits', 'first', 'warm', 'scan', 'faster'], ...rows], 'lr')
}

/** Two significant digits for a small number, all integer digits for a larger one. */
function significant(value: number): string {
  return value >= 99.5 ? formatCount(value) : value.toPrecision(2)
}
