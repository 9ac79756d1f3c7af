/** Checks a measured comparison against the targets for a million documents. */
import type { Comparison } from './comparison.ts'
import type { ContenderName } from './contender.ts'
import type { TargetCheck } from './targets.ts'

const megabyte = 1e6

export function checkMillionTargets(comparison: Comparison): TargetCheck[] {
  return [
    ...checkRatios(comparison, 'postgres-gin', [
      { least: 1, classes: 'all' },
      { least: 2.5, classes: 10 }
    ]),
    ...checkRatios(comparison, 'sqlite-indexed', [
      { least: 1, classes: 10 },
      { least: 1 / 3, classes: 'all' }
    ]),
    checkUnindexedSqlite(comparison),
    ...checkIngest(comparison),
    ...checkFootprint(comparison)
  ]
}

interface Wanted {
  /** Minimum speed relative to the other contender. */
  readonly least: number
  readonly classes: number | 'all'
}

function checkRatios({ queries }: Comparison, other: ContenderName, wanted: readonly Wanted[]): TargetCheck[] {
  const ratios = queries.flatMap(({ milliseconds, title }) => {
    const ours = milliseconds.petaldb?.median
    const theirs = milliseconds[other]?.median
    return ours === undefined || theirs === undefined ? [] : [{ title, factor: theirs / ours }]
  })
  return wanted.map(({ least, classes }) => {
    const needed = classes === 'all' ? ratios.length : classes
    const target = `${classes} classes at least ${least.toFixed(2)} × as fast as ${other}`
    if (ratios.length === 0) return { target, measured: 'nothing', met: undefined }
    const enough = ratios.filter(({ factor }) => factor >= least).length
    const worst = ratios.reduce((a, b) => (a.factor <= b.factor ? a : b))
    const measured = `${enough} of ${ratios.length}; least ${worst.factor.toFixed(2)} × (${worst.title})`
    return { target, measured, met: enough >= needed }
  })
}

/** No query takes more than 1 % of unindexed SQLite's time, unless it returns over 1 % of the documents. */
function checkUnindexedSqlite({ queries, count }: Comparison): TargetCheck {
  const target = 'none over 1 % of unindexed SQLite where at most 1 % of the documents are returned'
  const shares = queries.flatMap(({ milliseconds, title, hits }) => {
    const ours = milliseconds.petaldb?.median
    const theirs = milliseconds.sqlite?.median
    return ours === undefined || theirs === undefined || hits > count / 100 ? [] : [{ title, share: ours / theirs }]
  })
  if (shares.length === 0) return { target, measured: 'nothing', met: undefined }
  const worst = shares.reduce((a, b) => (a.share >= b.share ? a : b))
  return { target, measured: `most ${(100 * worst.share).toFixed(2)} % (${worst.title})`, met: worst.share <= 0.01 }
}

function checkIngest({ contenders, imports }: Comparison): TargetCheck[] {
  const rate = (name: ContenderName): number | undefined => {
    const found = contenders.find((contender) => contender.name === name)
    return found && found.documents / found.loadSeconds
  }
  const ours = rate('petaldb')
  const postgres = rate('postgres-gin')
  const target = 'import of objects ≥ 6 × postgres-gin'
  const checks: TargetCheck[] = [
    ours === undefined || postgres === undefined
      ? { target, measured: 'nothing', met: undefined }
      : { target, measured: `${(ours / postgres).toFixed(1)} ×`, met: ours >= 6 * postgres }
  ]
  if (imports === undefined) return checks
  const share = (label: string, ratio: number, least: number): TargetCheck => ({
    target: `import ${label} ≥ ${least} × classic-level storing the same strings`,
    measured: `${ratio.toFixed(2)} ×`,
    met: ratio >= least
  })
  return [...checks, share('of objects', imports.acknowledgedRatio, 0.7), share('from NDJSON', imports.bytesRatio, 1.3)]
}

function checkFootprint({ contenders, queries }: Comparison): TargetCheck[] {
  const petaldb = contenders.find(({ name }) => name === 'petaldb')
  const first = queries[0]?.coldMilliseconds.petaldb?.median
  const check = (target: string, value: number | undefined, limit: number, unit: string): TargetCheck => ({
    target: `${target} ≤ ${limit} ${unit}`,
    measured: value === undefined ? 'nothing' : `${value.toFixed(1)} ${unit}`,
    met: value === undefined ? undefined : value <= limit
  })
  const { indexBytes, documents = 1, openMilliseconds, reopenMilliseconds } = petaldb ?? {}
  const { rssAfterFirstQueriesBytes, rssAfterQueriesBytes } = petaldb ?? {}
  const megabytes = (bytes: number | undefined): number | undefined => bytes && bytes / megabyte
  return [
    check('index', indexBytes === undefined ? undefined : indexBytes / documents, 110, 'B per document'),
    check('open after a clean close, in a new process', openMilliseconds?.median, 50, 'ms'),
    check('open after a clean close, again in the process', reopenMilliseconds?.median, 50, 'ms'),
    check('first query', first, 100, 'ms'),
    check('RSS after each query once, in a new process', megabytes(rssAfterFirstQueriesBytes?.median), 450, 'MB'),
    check('RSS after all repetitions', megabytes(rssAfterQueriesBytes), 450, 'MB')
  ]
}
