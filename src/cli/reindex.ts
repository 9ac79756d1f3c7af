/** `petaldb reindex`: rebuilds the index, once or periodically. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Collection, IndexStats, RebuildResult } from '../index.ts'
import { command } from './command.ts'
import { existingCollection, openExisting } from './database.ts'
import { UsageError } from './errors.ts'
import { formatCount, formatNumberOf, timedJson } from './format.ts'
import { hashName, hashNames } from './hash-name.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { showProgress } from './progress.ts'

const unitMilliseconds: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** The longest delay of a timer. */
const maxMilliseconds = 2 ** 31 - 1

export const reindexCommand = command({
  name: 'reindex',
  summary: 'Rebuilds the index, which removes deleted and replaced documents from it.',
  positionals: '<db>',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to reindex (default 'default')" },
    hash: { type: 'string', value: hashNames.join('|'), help: 'hash of the index (default: unchanged)' },
    every: {
      type: 'string',
      value: '1h',
      help: 'keep running, and rebuild at this interval if it is worthwhile: 30s, 10m, 1h, 1d'
    },
    json: { type: 'boolean', help: 'print the result of each rebuild as a line of JSON' }
  },
  details: [
    'Ctrl-C is safe: the index stays as it was. If --hash differs from the hash of the index, the index is first rebuilt',
    'while it is being opened; Ctrl-C takes effect only after that.',
    '',
    '  petaldb reindex tweets.db',
    '  petaldb reindex tweets.db --every 1h',
    '  petaldb reindex tweets.db --hash murmur'
  ],
  async run([location = ''], options) {
    const interval = options.every === undefined ? undefined : duration('--every', options.every)
    const index = options.hash === undefined ? {} : { index: { hash: hashName(options.hash) } }
    using interrupt = new Interrupt()
    const { signal } = interrupt
    try {
      await using db = await openExisting(location, options.collection === undefined ? index : {})
      const collection = await existingCollection(db, options.collection, index)
      const report = options.json === true ? resultJson : resultText
      await reindex(collection, signal, report)
      while (interval !== undefined) {
        await sleep(interval, undefined, { signal })
        if ((await collection.index.rebuildReason()) !== undefined) await reindex(collection, signal, report)
      }
    } catch (error) {
      if (interrupt.status === undefined) throw error
    }
    return interrupt.status ?? 0
  }
})

type Report = (result: RebuildResult, stats: IndexStats) => string

async function reindex({ index }: Collection, signal: AbortSignal, report: Report): Promise<void> {
  const result = await showProgress({ documents: 0 }, (show) =>
    index.rebuild({
      signal,
      onProgress: ({ documents, total }) => show({ documents, totalDocuments: total })
    })
  )
  await printLine(report(result, await index.stats()))
}

function resultText({ documents, milliseconds }: RebuildResult, { segments, bytes }: IndexStats): string {
  const rate = milliseconds > 0 ? (documents / milliseconds) * 1000 : 0
  const each = documents > 0 ? `, ${Math.round(bytes.total / documents)} bytes per document` : ''
  const where = formatNumberOf('segment', segments)
  return `${formatCount(documents)} documents in ${where}${each}, ${formatCount(rate)}/s`
}

function resultJson({ documents, milliseconds }: RebuildResult, { segments, bytes }: IndexStats): string {
  return timedJson({ documents, segments, indexBytes: bytes.total }, milliseconds)
}

/** @throws UsageError unless the text is a number with a unit, such as 30s or 1h */
function duration(name: string, text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? []
  const milliseconds = Number(digits) * (unitMilliseconds[unit ?? ''] ?? Number.NaN)
  if (milliseconds > 0 && milliseconds <= maxMilliseconds) return milliseconds
  throw new UsageError(`${name} takes a time such as 30s, 10m, 1h or 1d, up to 24 days, got '${text}'`)
}
