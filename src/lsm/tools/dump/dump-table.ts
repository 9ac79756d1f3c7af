/** Prints a table: its metadata, then its entries block by block, with one block in memory at a time. */
import { BlockCursor } from '../../format/block-cursor.ts'
import { propertiesName } from '../../format/metaindex.ts'
import { TableFile } from '../../format/table-file.ts'
import type { OpenFile } from '../../fs/file-system.ts'
import { decodeHeader, sectionNames } from '../../value/header.ts'
import { EntryTally } from '../entry-tally.ts'
import { flawIn } from '../repair/block-flaws.ts'
import { findBlocks } from '../repair/find-blocks.ts'
import { isDamage, Losses } from '../repair/losses.ts'
import { count, type DumpText, damage } from './text.ts'

export function* dumpTable(file: OpenFile, number: number, text: DumpText): Generator<string, void> {
  const bytes = file.size()
  yield `table ${number}, ${count(bytes, 'byte')}`
  try {
    yield* dumpSections(TableFile.open(file, { number, bytes }).file)
  } catch (error) {
    // dumpBlocks() meets the same damage and prints it.
    if (!isDamage(error)) throw error
  }
  yield* dumpBlocks(file, number, text)
}

function* dumpSections(table: TableFile): Generator<string, void> {
  for (const name of table.sectionNames) {
    try {
      const section = table.section(name)
      if (section === undefined) continue
      yield `section ${name}, ${count(section.length, 'byte')}`
      if (name === propertiesName) yield `  ${section.toString('latin1')}`
      if (name === sectionNames.header) yield* dumpValueHeader(section, table.path)
    } catch (error) {
      if (!isDamage(error)) throw error
      yield damage(error)
    }
  }
  yield `index of ${count(table.index.count, 'block')}, ${count(table.index.dataBytes, 'byte')}`
}

function* dumpValueHeader(section: Uint8Array, path: string): Generator<string, void> {
  const header = decodeHeader(section, path)
  if (header === undefined) return
  const { extractor, filterBits, filterHashes, bitsSet, pairs, zones } = header
  yield `  extractor ${extractor.name}, version ${extractor.version}: ${count(pairs, 'pair')}`
  yield `  filter of ${count(filterBits, 'bit')}, ${bitsSet} of them set, ${count(filterHashes, 'hash', 'hashes')} per pair`
  if (zones.length > 0) yield `  zones of ${zones.map(({ field }) => field).join(', ')}`
}

function* dumpBlocks(file: OpenFile, number: number, text: DumpText): Generator<string, void> {
  const losses = new Losses()
  const cursor = new BlockCursor()
  let printed = 0
  let last = new EntryTally()
  function* newLosses(): Generator<string, void> {
    for (const { what, offset, bytes } of losses.list.slice(printed)) {
      yield bytes === undefined ? `! ${what}` : `! ${count(bytes, 'byte')} at ${offset}: ${what}`
    }
    printed = losses.list.length
  }
  for (const { block, isGuess } of findBlocks(file, number, losses)) {
    yield* newLosses()
    const tally = new EntryTally(last)
    cursor.load(block)
    const flaw = flawIn(block, cursor, tally)
    if (flaw !== undefined && isGuess) break
    yield `block at ${block.offset}: ${count(tally.entries, 'entry', 'entries')}, ${count(block.payloadBytes, 'byte')} raw`
    if (flaw !== undefined) {
      yield `! ${flaw}`
      continue
    }
    last = tally
    for (cursor.seekToFirst(); cursor.isValid; cursor.next()) yield* text.entry(cursor)
    yield* text.omitted()
  }
  yield* newLosses()
}
