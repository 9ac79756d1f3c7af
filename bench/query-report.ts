/** A comparison as Markdown. */
import type { Comparison, ContenderResult, QueryResult } from './comparison.ts'
import { type Machine, machineLine } from './machine.ts'
import { repetitionRule } from './repetitions.ts'
import type { Spread } from './statistics.ts'
import type { TargetCheck } from './targets.ts'

export function comparisonMarkdown(comparison: Comparison, command: string, targets: readonly TargetCheck[]): string {
  const { count, rounds, contenders, absent, queries, disagreements } = comparison
  return `# ${count.toLocaleString('en')} generated tweets

${header(comparison.machine, command)}

${[
  ...contenders.map(({ name, description }) => `* **${name}**: ${description}`),
  ...absent.map(({ name, reason }) => `* **${name}** did not take part: ${reason}`)
].join('\n')}

${
  disagreements.length === 0
    ? `All contenders returned the same documents for all ${queries.length} queries.`
    : `ANSWERS DIFFER:\n\n${disagreements.map((line) => `* ${line}`).join('\n')}`
}

## Milliseconds per query

Warm, results returned as whole objects: median (least to most). Every query of every contender is run for a second, and
until it no longer gets faster, then timed in turn with the others, fast ones for 20 ms, of which the mean counts:
${repetitionRule(rounds)}.

${queryTable(queries, contenders)}

${coldSection(queries, contenders)}## Loading, memory and disk

Batches of 1,000. Settling is checkpoint, compaction and, for sqlite-indexed, making the indexes.

${contenderTable(contenders)}

${importSection(comparison)}

## Targets

${targets.map(({ target, measured, met }) => `* target ${target}: measured ${measured}: ${verdict(met)}`).join('\n')}
`
}

export function header(where: Machine, command: string): string {
  return `${machineLine(where)}\n\n    ${command}`
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const alignment = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head, alignment, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export function significant(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 99.5 ? value.toFixed(0) : value.toPrecision(2)
}

function queryTable(queries: readonly QueryResult[], contenders: readonly ContenderResult[]): string {
  return table(
    ['query', 'hits', ...contenders.map(({ name }) => name)],
    queries.map(({ title, hits, milliseconds }) => [
      title,
      hits.toLocaleString('en'),
      ...contenders.map(({ name }) => spreadCell(milliseconds[name]))
    ])
  )
}

function coldSection(queries: readonly QueryResult[], contenders: readonly ContenderResult[]): string {
  const reopened = contenders.filter(({ openMilliseconds }) => openMilliseconds !== undefined)
  if (reopened.length === 0) return ''
  const row = (title: string, of: (contender: ContenderResult) => Spread | undefined): string[] => [
    title,
    ...reopened.map((contender) => spreadCell(of(contender)))
  ]
  const rows = [
    row('open', ({ openMilliseconds }) => openMilliseconds),
    ...queries.map(({ title, coldMilliseconds }) => row(title, ({ name }) => coldMilliseconds[name])),
    row('open again', ({ reopenMilliseconds }) => reopenMilliseconds)
  ]
  return `## Milliseconds after opening

Closed, opened in a new process that has loaded the library and compiled none of it, then each query once, in this order:
median (least to most) of seven such processes, of one where that takes longer than five seconds. The machine is left to rest
before each is started, and the operating system's page cache is warm. *Open again*: closed and opened by the same process, five times.

${table(['query', ...reopened.map(({ name }) => name)], rows)}

`
}

export function spreadCell(times: Spread | undefined): string {
  if (times === undefined) return '–'
  return `${significant(times.median)} (${significant(times.min)}–${significant(times.max)})`
}

function contenderTable(contenders: readonly ContenderResult[]): string {
  return table(
    [
      '',
      'load, docs/s',
      'settle, s',
      'disk, MB',
      'by file type, MB',
      'index, MB',
      'RSS after load, MB',
      'RSS after each query once, MB',
      'RSS after all repetitions, MB'
    ],
    contenders.map((contender) => [
      contender.name,
      Math.round(documentsPerSecond(contender)).toLocaleString('en'),
      contender.settleSeconds.toFixed(1),
      megabytes(contender.disk?.total),
      Object.entries(contender.disk?.byExtension ?? {})
        .filter(([, bytes]) => bytes >= (contender.disk?.total ?? 0) / 100)
        .sort(([, a], [, b]) => b - a)
        .map(([extension, bytes]) => `${extension} ${megabytes(bytes)}`)
        .join(', '),
      megabytes(contender.indexBytes),
      megabytes(contender.rssBytes),
      megabytes(contender.rssAfterFirstQueriesBytes?.median),
      megabytes(contender.rssAfterQueriesBytes)
    ])
  )
}

function documentsPerSecond({ documents, loadSeconds }: ContenderResult): number {
  return documents / loadSeconds
}

function importSection({ imports }: Comparison): string {
  if (imports === undefined) return ''
  return `## Import

${imports.count.toLocaleString('en')} documents into an empty store, in a process that has done so twice before. *petaldb* takes objects by one insertMany, *petaldb-calls*
by one for each thousand, *petaldb-bytes* NDJSON; classic-level stores ready-made strings.

${imports.markdown}`
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? '–' : (bytes / 1e6).toFixed(1)
}

function verdict(met: boolean | undefined): string {
  return met === undefined ? 'not measured' : met ? 'met' : 'NOT met'
}
