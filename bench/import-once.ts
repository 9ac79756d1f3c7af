/** One import of ready-made tweets into an empty store, timed until acknowledged and until closed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import type { Document } from '../src/model/types.ts'
import { generateTweets } from '../src/workload/tweets.ts'
import { levelKey } from './contenders/level-key.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { directoryBytes } from './directory-bytes.ts'

/**
 * petaldb takes objects, petaldb-bytes newline-delimited JSON, and both index everything; classic-level takes JSON
 * strings that cost nothing to make.
 */
export const importers = ['petaldb', 'petaldb-bytes', 'classic-level'] as const

export type Importer = (typeof importers)[number]

export interface ImportTimes {
  readonly acknowledgedMilliseconds: number
  readonly closedMilliseconds: number
  readonly diskBytes: number
}

/** Writes one batch; close ends the import. */
interface Sink {
  write(batch: number): Promise<unknown>
  close(): Promise<void>
}

type Import = () => Promise<ImportTimes>

/** Makes the input, so that only the import is timed. Each call of the result imports into a new directory. */
export function prepareImport(importer: Importer, options: { count: number; seed: number; batch: number }): Import {
  const { count, seed, batch } = options
  const documents = [...generateTweets({ count, seed })]
  const batches = Math.ceil(count / batch)
  const slice = <T>(all: readonly T[], index: number): T[] => all.slice(index * batch, (index + 1) * batch)
  switch (importer) {
    case 'petaldb': {
      const input: Document[][] = Array.from({ length: batches }, (_, i) => slice(documents, i))
      return () =>
        importInto(batches, async (directory) => {
          const db = await openDatabase(join(directory, 'tweets.db'))
          return { write: (i) => db.insertMany(input[i]!), close: () => db.close() }
        })
    }
    case 'petaldb-bytes': {
      const input = Array.from({ length: batches }, (_, i) =>
        Buffer.from(
          slice(documents, i)
            .map((tweet) => `${JSON.stringify(tweet)}\n`)
            .join('')
        )
      )
      return () =>
        importInto(1, async (directory) => {
          const db = await openDatabase(join(directory, 'tweets.db'))
          return { write: () => db.importLines(input), close: () => db.close() }
        })
    }
    case 'classic-level': {
      const operations = documents.map((tweet) => ({
        type: 'put' as const,
        key: levelKey(tweet._id),
        value: JSON.stringify(tweet)
      }))
      const input = Array.from({ length: batches }, (_, i) => slice(operations, i))
      return () =>
        importInto(batches, async (directory) => {
          const db = new ClassicLevel<string, string>(directory)
          await db.open()
          return { write: (i) => db.batch(input[i]!), close: () => db.close() }
        })
    }
  }
}

async function importInto(batches: number, open: (directory: string) => Promise<Sink>): Promise<ImportTimes> {
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-import-'))
  try {
    const sink = await open(directory)
    globalThis.gc?.()
    const begin = performance.now()
    for (let i = 0; i < batches; i++) await sink.write(i)
    const acknowledgedMilliseconds = performance.now() - begin
    await sink.close()
    const closedMilliseconds = performance.now() - begin
    return { acknowledgedMilliseconds, closedMilliseconds, diskBytes: directoryBytes(directory).total }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
