/**
 * What must hold for a store after any crash:
 *
 * 1. It opens.
 * 2. Its content is the state after some prefix of the writes: batches are complete or absent, and none exists without
 *    its predecessors. Nothing durable is missing.
 * 3. All ways of reading agree on that content, and verify() finds no problem.
 * 4. It accepts writes, and after a second crash (the worst one) or a close it has the content found and these writes.
 *    What the first crash took does not come back.
 */
import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import type { LsmLevel, StoreOptions } from '../../src/lsm/index.ts'
import { contentOf, location, openStore } from './lsm-crash-points.ts'
import type { History, PrefixBounds } from './lsm-history.ts'
import { colors, traceKeys } from './lsm-traces.ts'

/** Sorts after all keys of the traces. */
const markerKey = '~marker'

/** How a recovered store ends before it is reopened. */
export type SecondEnd = 'crash' | 'close'

/**
 * @param disk is modified
 * @returns the prefix found
 */
export async function checkRecovery(
  disk: MemoryFileSystem,
  options: StoreOptions,
  history: History,
  bounds: PrefixBounds,
  end: SecondEnd
): Promise<number> {
  const db = await openStore(disk, options)
  const content = await contentOf(db)
  const prefix = history.prefixOf(content, bounds)
  if (prefix === undefined) throw new Error(describeLoss(content, history, bounds))
  await checkReads(db, content)
  await checkStructure(db)
  await db.put(markerKey, 'there', { sync: true })
  const [worst = disk] = disk.crashStates()
  await db.close()
  const again = await openStore(end === 'crash' ? worst : disk, options)
  assert.is(await contentOf(again), `${content}${markerKey}=there\n`, `opened again after a ${end}`)
  await again.close()
  return prefix
}

/** Checks that point reads, backward iteration and lookups by value agree with the forward iteration. */
export async function checkReads(db: LsmLevel, content: string): Promise<void> {
  const entries = new Map(content.split('\n').flatMap((line) => (line === '' ? [] : [splitLine(line)])))
  const found = await db.getMany(traceKeys)
  assert.equal(
    found,
    traceKeys.map((key) => entries.get(key)),
    'getMany'
  )
  const reversed = await db.keys({ reverse: true }).all()
  assert.equal(reversed.reverse(), [...entries.keys()], 'backwards')
  if (db.valueStats() === undefined) return
  for (const color of colors) {
    const expected = [...entries.values()].filter((value) => value.includes(`"color":"${color}"`))
    const hits: string[] = []
    for await (const [, value] of db.lookup(['color', color])) hits.push(value)
    assert.equal(hits.sort(), expected.sort(), `lookup of ${color}`)
  }
}

function splitLine(line: string): [key: string, value: string] {
  const at = line.indexOf('=')
  return [line.slice(0, at), line.slice(at + 1)]
}

async function checkStructure(db: LsmLevel): Promise<void> {
  const { problems } = await db.verify()
  if (problems.length > 0) throw new Error(`verify() found ${JSON.stringify(problems)}`)
}

/** Equal for disks with the same files and bytes. */
export function fingerprint(disk: MemoryFileSystem, directory = location): string {
  const hash = createHash('sha1')
  for (const name of namesIn(disk, directory).sort()) {
    const path = `${directory}/${name}`
    const bytes = Buffer.alloc(disk.size(path) ?? 0)
    const file = disk.open(path, 'read')
    file.read(bytes, 0)
    // The nonces in locks differ from run to run and do not affect what is stored.
    hash.update(name.startsWith('LOCK') ? 'lock' : name).update(`:${bytes.length}:`)
    if (!name.startsWith('LOCK')) hash.update(bytes)
  }
  return hash.digest('base64')
}

function namesIn(disk: MemoryFileSystem, directory: string): string[] {
  try {
    return disk.list(directory)
  } catch {
    // The crash took the directory.
    return []
  }
}

function describeLoss(content: string, history: History, { atLeast, atMost }: PrefixBounds): string {
  const prefix = history.prefixOf(content, { atLeast: 0, atMost: history.length })
  const found = prefix === undefined ? `no prefix:\n${content}` : `prefix ${prefix}`
  const nearest = prefix === undefined ? `\nbut, for instance, prefix ${atLeast}:\n${history.stateAfter(atLeast)}` : ''
  return `found ${found}, expected one from ${atLeast} to ${atMost}${nearest}`
}
