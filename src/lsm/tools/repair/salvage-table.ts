/**
 * Saves one table: a sound one is used as it is, the readable part of a damaged one is written to a new table.
 *
 * Invariant: a block is used entirely or not at all: it has a valid checksum, its entries are in order, and they
 * follow those of the previous blocks.
 */
import { join } from 'node:path'
import { TableOutputs } from '../../compaction/table-outputs.ts'
import { isTurnLong } from '../../engine/event-loop-turn.ts'
import { BlockCursor } from '../../format/block-cursor.ts'
import { summarizeTable } from '../../format/table-summary.ts'
import { tableName } from '../../fs/file-names.ts'
import type { OpenFile } from '../../fs/file-system.ts'
import { createSectionCollector } from '../../value/section-collector.ts'
import type { TableMeta } from '../../version/table-meta.ts'
import { TableCheck } from '../check-table.ts'
import { EntryTally } from '../entry-tally.ts'
import { ProblemList } from '../problems.ts'
import { flawIn } from './block-flaws.ts'
import { findBlocks } from './find-blocks.ts'
import { isDamage } from './losses.ts'
import { passTurn, type RepairSettings, rewriteJob } from './settings.ts'

export interface SalvagedTable {
  /** The table to use; undefined if nothing could be read. */
  readonly meta: TableMeta | undefined
  /** False if the table was damaged, in which case `meta` is a new one. */
  readonly isSound: boolean
}

/**
 * @param declared the manifest's description, if there is one
 * @throws LEVEL_IO_ERROR, Node's own errors, LEVEL_NOT_SUPPORTED for a table of a later format
 */
export async function salvageTable(
  settings: RepairSettings,
  number: number,
  declared?: TableMeta
): Promise<SalvagedTable> {
  const { fileSystem, directory, losses } = settings
  const path = join(directory, tableName(number))
  const sound = await checkedTable(settings, path, number, declared)
  if (sound !== undefined) return { meta: sound, isSound: true }
  const file = fileSystem.open(path, 'read')
  try {
    const meta = await rewrite(settings, file, number)
    const lost = (declared?.entries ?? 0) - (meta?.entries ?? 0)
    if (meta === undefined) losses.add(path, 'no part of the table is readable')
    else if (lost > 0) losses.add(path, `${lost} of ${declared?.entries} entries`)
    return { meta, isSound: false }
  } finally {
    file.close()
  }
}

/** The table's manifest entry; undefined if anything but its value sections is damaged. */
async function checkedTable(settings: RepairSettings, path: string, number: number, declared: TableMeta | undefined) {
  const { fileSystem } = settings
  const problems = new ProblemList()
  let meta: TableMeta
  try {
    meta = declared ?? summarizeTable(fileSystem.open(path, 'read'), number)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
  const file = fileSystem.open(path, 'read')
  try {
    const check = TableCheck.open(file, meta, problems)
    for (const _ of check?.run(undefined) ?? []) if (isTurnLong()) await passTurn(settings)
  } finally {
    file.close()
  }
  return problems.problems.every(({ kind }) => kind === 'values') ? meta : undefined
}

async function rewrite(settings: RepairSettings, file: OpenFile, number: number): Promise<TableMeta | undefined> {
  const { fileSystem, losses } = settings
  const job = { ...rewriteJob(settings, []), reservedNumbers: 1 }
  const { values } = job.table
  const collector = values && (await createSectionCollector(values))
  const outputs = new TableOutputs(job, fileSystem, collector && (() => collector))
  try {
    let last = new EntryTally()
    const cursor = new BlockCursor()
    for (const { block, isGuess } of findBlocks(file, number, losses)) {
      const tally = new EntryTally(last)
      cursor.load(block)
      const flaw = flawIn(block, cursor, tally)
      if (flaw === undefined) {
        last = tally
        addAll(cursor, outputs)
      } else if (isGuess) {
        break
      } else {
        losses.add(block.path, flaw, block.offset)
      }
      if (isTurnLong()) await passTurn(settings)
    }
    const [meta] = await outputs.finish()
    return meta
  } catch (error) {
    await outputs.discard()
    throw error
  }
}

function addAll(cursor: BlockCursor, outputs: TableOutputs): void {
  for (cursor.seekToFirst(); cursor.isValid; cursor.next()) outputs.add(cursor)
}
