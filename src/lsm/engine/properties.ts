/** LevelDB's properties, by name. */
import type { TableMeta } from '../version/table-meta.ts'
import type { Engine } from './engine.ts'
import { storeStats } from './stats.ts'

const mib = 1024 * 1024

/** @returns an empty string for an unknown name */
export function readProperty(engine: Engine, name: string): string {
  const filesAtLevel = /^leveldb\.num-files-at-level(\d{1,3})$/.exec(name)
  if (filesAtLevel !== null) return fileCount(engine, Number(filesAtLevel[1]))
  if (name === 'leveldb.stats') return compactionTable(engine)
  if (name === 'leveldb.sstables') return tableList(engine)
  if (name === 'leveldb.approximate-memory-usage') return String(memoryBytes(engine))
  return ''
}

function fileCount({ version }: Engine, level: number): string {
  return level < version.levels.length ? String(version.tables(level).length) : ''
}

/** In LevelDB's format: levels that hold tables or were merged into. */
function compactionTable(engine: Engine): string {
  const lines = [
    '                               Compactions',
    'Level  Files Size(MB) Time(sec) Read(MB) Write(MB)',
    '--------------------------------------------------'
  ]
  const { levels, writes } = storeStats(engine)
  for (const [level, stats] of levels.entries()) {
    if (stats.tables === 0 && stats.merges === 0) continue
    const flushed = level === 0 ? writes : { flushMilliseconds: 0, flushedBytes: 0 }
    const seconds = (stats.mergeMilliseconds + flushed.flushMilliseconds) / 1000
    const written = (stats.mergeWrittenBytes + flushed.flushedBytes) / mib
    const columns: [number, number][] = [
      [level, 3],
      [stats.tables, 8],
      [stats.bytes / mib, 8],
      [seconds, 9],
      [stats.mergeReadBytes / mib, 8],
      [written, 9]
    ]
    lines.push(columns.map(([value, width]) => value.toFixed(0).padStart(width)).join(' '))
  }
  return `${lines.join('\n')}\n`
}

function tableList({ version }: Engine): string {
  const lines: string[] = []
  for (const [level, tables] of version.levels.entries()) {
    lines.push(`--- level ${level} ---`)
    for (const table of tables) lines.push(` ${describe(table)}`)
  }
  return `${lines.join('\n')}\n`
}

function describe({ number, bytes, smallest, largest, smallestSequence, largestSequence }: TableMeta): string {
  return `${number}:${bytes}['${readable(smallest)}' @ ${smallestSequence} .. '${readable(largest)}' @ ${largestSequence}]`
}

/** Printable ASCII as is, other bytes in hexadecimal. */
function readable(key: Uint8Array): string {
  return Array.from(key, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
  ).join('')
}

function memoryBytes(engine: Engine): number {
  const { memtables, cache, tableMemoryBytes } = storeStats(engine)
  return memtables.bytes + cache.usedBytes + tableMemoryBytes
}
