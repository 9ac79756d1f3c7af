/** `petaldb stats`: prints the size of a database and of the parts of its index. */
import type { CollectionStats, DatabaseStats } from '../index.ts'
import { command } from './command.ts'
import { openToRead } from './database.ts'
import { formatBytes, formatCount, formatNumberOf, formatPercent, formatTable } from './format.ts'
import { printLine } from './line-writer.ts'

export const statsCommand = command({
  name: 'stats',
  summary: 'Prints the documents, bytes and index parts of each collection.',
  positionals: '<db>',
  options: {
    json: { type: 'boolean', help: 'print JSON' }
  },
  async run([location = ''], options) {
    await using db = await openToRead(location)
    const stats = await db.stats()
    await printLine(options.json === true ? JSON.stringify(stats) : statsText(stats))
    return 0
  }
})

function statsText({ collections }: DatabaseStats): string {
  if (collections.length === 0) return 'no collections'
  return collections.map(collectionText).join('\n\n')
}

function collectionText({ name, documents, documentBytes, index }: CollectionStats): string {
  const perDocument = (bytes: number): string => (documents === 0 ? '' : `${(bytes / documents).toFixed(1)} B each`)
  const share = (bytes: number): string => (documentBytes === 0 ? '' : formatPercent(bytes / documentBytes))
  const size = (label: string, bytes: number): readonly string[] => [
    label,
    formatBytes(bytes),
    perDocument(bytes),
    share(bytes)
  ]
  const { bytes } = index
  const parts = [
    ['  hashed rows', bytes.hashedRows],
    ['  private rows', bytes.privateRows],
    ['  range codes', bytes.rangeCodes],
    ['  upper level', bytes.upperLevel],
    ['  fingerprints', bytes.fingerprints],
    ['  live bitmaps', bytes.live],
    ['  directory', bytes.directory]
  ] as const
  const rows = [
    size('documents', documentBytes),
    size('index', bytes.total),
    ...parts.filter((part) => part[1] > 0).map(([label, partBytes]) => size(label, partBytes))
  ]
  const table = formatTable(rows, 'lrrr')
  const segments = formatNumberOf('segment', index.segments)
  const details = [segments, `${formatCount(index.dead)} dead`, `${formatCount(index.recovered)} reindexed on opening`]
  return [
    `${name}: ${formatCount(documents)} documents, ${details.join(', ')}`,
    ...table.map((line) => `  ${line}`)
  ].join('\n')
}
