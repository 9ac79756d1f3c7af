/** After kill -9, an import with threads has left a prefix of the lines, with all that it reported, counted once. */
import { cpSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { linesOf, runUntilKilled } from '../support/killed-program.ts'
import { program } from '../support/program.ts'
import { randomFrom } from '../support/random.ts'
import {
  assertNoTableIsLeft,
  assertSound,
  bytesOf,
  openCounted,
  smallSegments,
  streamOf,
  tweet,
  tweetLines,
  unitLines
} from './load-cases.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const rounds = Number(process.env.PETALDB_RUNS ?? 6)
const roundsPerDatabase = 3
const script = program('test/docstore/import-until-killed.ts')

/**
 * @param milliseconds from the first stored lines to the kill; undefined: it ends by itself. @returns the reported
 * count
 */
async function runChild(
  location: string,
  milliseconds: number | undefined,
  end = Number.POSITIVE_INFINITY
): Promise<number> {
  const log = `${location}.log`
  await runUntilKilled(script, [location, log, String(end), '2'], milliseconds)
  return Number(linesOf(log).at(-1) ?? 0)
}

async function assertHasPrefix(db: Database): Promise<number> {
  const documents = await db.find({}, { hint: 'scan' }).toArray()
  assert.equal(
    documents.map(({ _id }) => _id),
    Array.from({ length: documents.length }, (_, i) => i)
  )
  for (const i of [0, documents.length >> 1, documents.length - 1]) assert.equal(documents[i], tweet(i, i))
  await assertSound(db)
  return documents.length
}

test('after kill -9 a prefix of the lines is stored, with all that were reported; importing can continue', async () => {
  let location = scratchPath()
  let loaded = 0
  for (let round = 0; round < rounds; round++) {
    if (round % roundsPerDatabase === 0) location = scratchPath()
    const told = await runChild(location, random() ** 2 * 500)
    const opened = await open(location, smallSegments)
    const count = await assertHasPrefix(opened)
    assert.ok(count >= told, `${told} were told, ${count} are there`)
    if (told > 2 * unitLines) loaded++
    await opened.close()
    if (round % roundsPerDatabase !== roundsPerDatabase - 1) continue
    await assertNoTableIsLeft(location)
    const end = count + 5 * unitLines + 3
    assert.is(await runChild(location, undefined, end), end)
    await using again = await open(location, smallSegments)
    assert.is(await assertHasPrefix(again), end)
  }
  assert.ok(loaded > 0)
})

/** Copies the files of an open database, as a crash would leave them. */
function copyOf(location: string): string {
  const copy = scratchPath()
  try {
    cpSync(location, copy, { recursive: true, filter: (path) => !path.includes('LOCK') })
    return copy
  } catch (error) {
    // A table that a merge has replaced is removed by another thread, perhaps between being listed and being copied.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return copyOf(location)
  }
}

test('after a crash right after the last unit its documents are counted once, however often it is opened', async () => {
  await using opened = await openCounted()
  const count = 6 * unitLines
  await opened.db.importLines(streamOf([bytesOf(tweetLines(0, count))]), { threads: 2 })
  assert.is(opened.ingestedTables, 6 * 3)
  const first = copyOf(opened.location)
  for (let i = 0; i < 2; i++) {
    await using again = await openCounted(first)
    assert.is(await assertHasPrefix(again.db), count)
  }
  const second = copyOf(opened.location)
  const crashed = await openCounted(second)
  assert.is(await assertHasPrefix(crashed.db), count)
  // The files as they are right after opening.
  const third = copyOf(second)
  await crashed[Symbol.asyncDispose]()
  await using last = await openCounted(third)
  assert.is(await assertHasPrefix(last.db), count)
  await last.db.insertOne(tweet(count, count))
  const fourth = copyOf(third)
  await using after = await openCounted(fourth)
  assert.is(await assertHasPrefix(after.db), count + 1)
})

test('a backup right after a unit, and one in the middle of the next, contain complete units', async () => {
  await using opened = await openCounted()
  const copies: Promise<{ readonly told: number; readonly copy: string }>[] = []
  await opened.db.importLines(streamOf([bytesOf(tweetLines(0, 8 * unitLines))]), {
    threads: 2,
    onProgress: ({ insertedCount: told }) => {
      const copy = scratchPath()
      if (told % (3 * unitLines) === 0) copies.push(opened.db.backup(copy).then(() => ({ told, copy })))
    }
  })
  assert.is(copies.length, 2)
  for (const { told, copy } of await Promise.all(copies)) {
    await using db = await open(copy, smallSegments)
    assert.is(await assertHasPrefix(db), told)
  }
})

test.run()
