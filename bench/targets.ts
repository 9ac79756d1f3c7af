/** Checks a measured comparison against the project's targets. */
import type { Comparison, QueryResult } from './comparison.ts'
import type { ContenderName } from './contender.ts'

export interface TargetCheck {
  readonly target: string
  readonly measured: string
  /** undefined if this run did not measure it. */
  readonly met: boolean | undefined
}

/** Latency limits in milliseconds. */
const latencyLimits: readonly (readonly [queryName: string, limit: number])[] = [
  ['unique', 0.2],
  ['absent', 0.2],
  ['hundred', 1.5],
  ['and-three', 0.5]
]

/** Below a share of hits, the minimum speed relative to SQLite without indexes. The first that applies counts. */
const speedups: readonly (readonly [share: number, factor: number])[] = [
  [0.003, 30],
  [0.01, 10]
]

/** Queries that have to examine every document, and only must not be slower than a scan. */
const unindexable: readonly string[] = ['regex']

/** Minimum share of the rate of a batched import of ready-made strings into classic-level. */
const importShare = 0.3

/** Bytes of the index's rows per byte of JSON. */
const rowShare = 0.1

export function checkTargets(comparison: Comparison): TargetCheck[] {
  return [
    ...checkImport(comparison),
    ...latencyLimits.map(([name, limit]) => checkLatency(comparison, name, limit)),
    checkNotSlower(comparison, 'sqlite'),
    checkNotSlower(comparison, 'nedb'),
    ...speedups.map(([share, factor], i) => checkSpeedup(comparison, speedups[i - 1]?.[0] ?? -1, share, factor)),
    checkIndexBytes(comparison)
  ]
}

function checkImport({ imports }: Comparison): TargetCheck[] {
  const target = `import with everything indexed ≥ ${100 * importShare} % of classic-level's rate, strings ready made`
  if (imports === undefined) return [unmeasured(target)]
  const { acknowledgedRatio, closedRatio } = imports
  return [
    {
      target: `${target}, until acknowledged`,
      measured: percent(acknowledgedRatio),
      met: acknowledgedRatio >= importShare
    },
    { target: `${target}, until closed`, measured: percent(closedRatio), met: closedRatio >= importShare }
  ]
}

function checkLatency({ queries }: Comparison, name: string, limit: number): TargetCheck {
  const query = queries.find((candidate) => candidate.name === name)
  const target = `${query?.title ?? name} ≤ ${limit} ms`
  const median = query?.milliseconds.petaldb?.median
  if (query === undefined || median === undefined) return unmeasured(target)
  return { target, measured: `${median.toFixed(3)} ms for ${query.hits} hits`, met: median <= limit }
}

function checkNotSlower({ queries }: Comparison, other: ContenderName): TargetCheck {
  const target = `no query class slower than ${other} without indexes`
  const ratios = speedupsOver(queries, other)
  if (ratios.length === 0) return unmeasured(target)
  const slower = ratios.filter(({ factor }) => factor < 1)
  return {
    target,
    measured: `${ratios.length - slower.length} of ${ratios.length}; ${worst(ratios)}`,
    met: slower.length === 0
  }
}

function checkSpeedup({ queries, count }: Comparison, above: number, share: number, factor: number): TargetCheck {
  const range = above < 0 ? `under ${percent(share)}` : `of ${percent(above)} to ${percent(share)}`
  const target = `queries ${range} hits ≥ ${factor} × faster than sqlite without indexes`
  const wanted = queries.filter(
    ({ name, hits }) => hits / count >= above && hits / count < share && !unindexable.includes(name)
  )
  const ratios = speedupsOver(wanted, 'sqlite')
  if (ratios.length === 0) return unmeasured(target)
  const enough = ratios.filter((ratio) => ratio.factor >= factor)
  return {
    target,
    measured: `${enough.length} of ${ratios.length}; ${worst(ratios)}`,
    met: enough.length === ratios.length
  }
}

function checkIndexBytes({ contenders }: Comparison): TargetCheck {
  const target = `rows of the index ≤ ${100 * rowShare} % of the JSON bytes`
  const petaldb = contenders.find(({ name }) => name === 'petaldb')
  if (petaldb?.indexBytes === undefined || petaldb.indexRowBytes === undefined) return unmeasured(target)
  const rows = petaldb.indexRowBytes / petaldb.jsonBytes
  const whole = petaldb.indexBytes / petaldb.jsonBytes
  return { target, measured: `${percent(rows)}; the whole index ${percent(whole)}`, met: rows <= rowShare }
}

interface Speedup {
  readonly title: string
  readonly factor: number
}

function speedupsOver(queries: readonly QueryResult[], other: ContenderName): Speedup[] {
  return queries.flatMap(({ title, milliseconds }) => {
    const ours = milliseconds.petaldb?.median
    const theirs = milliseconds[other]?.median
    return ours === undefined || theirs === undefined ? [] : [{ title, factor: theirs / ours }]
  })
}

function worst(ratios: readonly Speedup[]): string {
  const least = ratios.reduce((a, b) => (a.factor <= b.factor ? a : b))
  return `least ${least.factor.toFixed(1)} × (${least.title})`
}

function unmeasured(target: string): TargetCheck {
  return { target, measured: 'nothing', met: undefined }
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`
}
