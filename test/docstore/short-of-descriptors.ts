/**
 * Runs as a process of its own, with a limit on open files: fills a database at its argument with more tables than it
 * may have open, then does in turn what takes further descriptors, with not one to spare. Prints what failed.
 */
import { closeSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { LsmLevel } from '../../src/lsm/index.ts'

const directory = process.argv[2] ?? ''
const failures: string[] = []
const taken: number[] = []

/** Takes every descriptor that is left. */
function exhaust(): void {
  try {
    for (;;) taken.push(openSync(process.execPath, 'r'))
  } catch {
    // That was the last one.
  }
}

async function attempt(what: string, run: () => Promise<unknown>): Promise<void> {
  exhaust()
  try {
    await run()
  } catch (error) {
    const { message, cause } = error as Error
    failures.push(`${what}: ${message} (${String((cause as Error | undefined)?.message)})`)
  }
}

const key = (i: number): string => String(i).padStart(6, '0')
const options = { autoCompaction: false, writeBufferSize: 64 * 1024 }

/** Opens every table that it can. */
async function readAll(level: LsmLevel): Promise<void> {
  for (let i = 0; i < tables; i++) if ((await level.get(key(i))) !== 'value') failures.push(`${key(i)} is missing`)
}

const tables = 150
const level = new LsmLevel(join(directory, 'level'), options)
for (let i = 0; i < tables; i++) {
  await level.put(key(i), 'value')
  await level.flush()
}
// Loads the modules that open() needs: the loader of modules spares no descriptors.
const other = await open(join(directory, 'other'))
await other.close()
await readAll(level)
await attempt('flush', async () => {
  await level.put('a', 'value')
  await level.flush()
})
await readAll(level)
await attempt('compaction', () => level.compactRange('a', 'b'))
await readAll(level)
await attempt('backup', () => level.backup(join(directory, 'backup')))
await readAll(level)
await attempt('log rotation', async () => {
  for (let i = 0; i < 40; i++) await level.put(`b${i}`, 'x'.repeat(16 * 1024))
})
await readAll(level)
await attempt('another database', async () => {
  await using db = await open(join(directory, 'other'), { createIfMissing: false })
  await db.insertOne({ _id: 'kept' })
  await db.backup(join(directory, 'other backup'))
})
await readAll(level)
await attempt('a new database', async () => {
  await using db = await open(join(directory, 'new'))
  await db.insertOne({ _id: 'kept' })
})
await readAll(level)
await attempt('manifest rotation and close', async () => {
  await level.put('c', 'value')
  await level.close()
})
for (const descriptor of taken) closeSync(descriptor)
const again = new LsmLevel(join(directory, 'level'), options)
if ((await again.get('c')) !== 'value') failures.push('the last write is missing')
await readAll(again)
await again.close()
console.log(JSON.stringify({ failures, names: readdirSync(directory).sort() }))
