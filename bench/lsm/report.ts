/** The store benchmark as Markdown, with the project's targets. */
import type { Machine } from '../machine.ts'
import { header, significant, table } from '../query-report.ts'
import type { Spread } from '../statistics.ts'
import { type Latencies, untimedReads } from './measures.ts'
import type { StoreName } from './store.ts'

export interface StoreResult {
  readonly name: StoreName
  readonly measures: Readonly<Record<string, Spread>>
  readonly size: { readonly bytes: number; readonly compactedBytes: number; readonly seconds: number }
  readonly sustained: Latencies
  readonly rssAfterFillBytes: number
  readonly rssBytes: number
}

export interface LsmReport {
  readonly machine: Machine
  readonly command: string
  readonly count: number
  readonly stores: readonly StoreResult[]
}

/** Minimum speed relative to classic-level. */
const targets: Readonly<Record<string, number>> = {
  'batch put of 1,000, sequential keys, per entry': 1,
  'batch put of 1,000, random keys, per entry': 1,
  'put, awaited one by one': 5,
  'put sync, 64 callers': 1,
  'get, hit': 3,
  'get, miss': 3,
  'getMany(100), per key': 1,
  'iterator, nextv(1000), per entry': 2,
  'iterator, for await, per entry': 2
}

export function lsmMarkdown({ machine, command, count, stores }: LsmReport): string {
  const ours = stores.find(({ name }) => name === 'lsm')
  const theirs = stores.find(({ name }) => name === 'classic-level')
  const labels = Object.keys(stores[0]?.measures ?? {})
  return `# ${count.toLocaleString('en')} entries of 1 KB, LsmLevel beside classic-level

${header(machine, command)}

Microseconds per operation unless the line says otherwise: median (least to most). Keys of 16 bytes, values of 1,000
bytes of tweet JSON, defaults of both stores, bytes in and bytes out. The same for both: before its first round, each measure
of reads runs once untimed, ${untimedReads.toLocaleString('en')} operations, and what earlier writes left to the background has come to rest.

${table(
  ['', ...stores.map(({ name }) => name), 'times faster', 'target', 'met'],
  labels.map((label) => {
    const ratio = (theirs?.measures[label]?.median ?? Number.NaN) / (ours?.measures[label]?.median ?? Number.NaN)
    const target = targets[label]
    return [
      label,
      ...stores.map(({ measures }) => range(measures[label])),
      significant(ratio),
      target === undefined ? '' : `≥ ${target}`,
      verdict(target, ratio)
    ]
  })
)}

${table(
  ['', ...stores.map(({ name }) => name)],
  [
    ['on disk after the random fill, MB', ...stores.map(({ size }) => megabytes(size.bytes))],
    ['on disk after compactRange, MB', ...stores.map(({ size }) => megabytes(size.compactedBytes))],
    ['compactRange, s', ...stores.map(({ size }) => size.seconds.toFixed(1))],
    ['RSS after the fills, MB', ...stores.map(({ rssAfterFillBytes }) => megabytes(rssAfterFillBytes))],
    ['RSS at the end, MB', ...stores.map(({ rssBytes }) => megabytes(rssBytes))],
    ...sustainedRows(stores)
  ]
)}
${ours === undefined || theirs === undefined ? '' : limits(ours, theirs)}`
}

function sustainedRows(stores: readonly StoreResult[]): string[][] {
  const row = (label: string, field: keyof Latencies): string[] => [
    label,
    ...stores.map(({ sustained }) => sustained[field].toFixed(2))
  ]
  return [
    row('put under sustained load, median ms', 'medianMilliseconds'),
    row('… 99th percentile, ms', 'p99Milliseconds'),
    row('… worst, ms', 'maxMilliseconds'),
    row('event loop delay meanwhile, 99th percentile, ms', 'loopP99Milliseconds'),
    row('… worst, ms', 'loopMaxMilliseconds')
  ]
}

function limits(ours: StoreResult, theirs: StoreResult): string {
  const size = ours.size.compactedBytes / theirs.size.compactedBytes
  const { p99Milliseconds, loopMaxMilliseconds } = ours.sustained
  return `
* size ≤ 1.1 × classic-level: ${size.toFixed(2)}: ${size <= 1.1 ? 'met' : 'missed'}
* 99th percentile of a put under sustained load ≤ 20 ms: ${p99Milliseconds.toFixed(2)} ms: ${p99Milliseconds <= 20 ? 'met' : 'missed'}
* event loop never blocked over 20 ms: ${loopMaxMilliseconds.toFixed(1)} ms: ${loopMaxMilliseconds <= 20 ? 'met' : 'missed'}
`
}

function verdict(target: number | undefined, ratio: number): string {
  if (target === undefined || Number.isNaN(ratio)) return ''
  return ratio >= target ? 'yes' : 'NO'
}

function range(found: Spread | undefined): string {
  if (found === undefined) return '–'
  return `${significant(found.median)} (${significant(found.min)}–${significant(found.max)})`
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
