/** Imports ready-made tweets into an empty store, timed until acknowledged and until closed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { generateTweets, type Tweet } from '../src/workload/tweets.ts'
import { levelKey } from './contenders/level-key.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { directoryBytes } from './directory-bytes.ts'

/**
 * petaldb takes all objects in one call, petaldb-calls one batch of objects per call, petaldb-bytes newline-delimited
 * JSON, and all of them index everything; classic-level takes ready-made JSON strings.
 */
export const importers = ['petaldb', 'petaldb-bytes', 'petaldb-calls', 'classic-level'] as const

export type Importer = (typeof importers)[number]

export interface ImportTimes {
  readonly acknowledgedMilliseconds: number
  readonly closedMilliseconds: number
  /** Time of all threads, until closed. */
  readonly processorMilliseconds: number
  readonly diskBytes: number
}

/** Writes one batch; close ends the import. */
interface Sink {
  write(batch: number): Promise<unknown>
  close(): Promise<void>
}

type Import = () => Promise<ImportTimes>

export interface ImportInput {
  readonly count: number
  readonly seed: number
  /** Documents per call, if there are several; petaldb-bytes takes chunks of this many lines. */
  readonly batch: number
  /** For importLines() and insertMany(); undefined means their default. */
  readonly threads?: number | undefined
}

/**
 * Prepares the input, so that only the import is timed. Each call of the result imports into a new directory.
 *
 * Only the importer's own input is kept: if the tweets were kept as objects besides lines or strings, every garbage
 * collection would have to traverse them.
 */
export function prepareImport(importer: Importer, options: ImportInput): Import {
  switch (importer) {
    case 'petaldb': {
      const input = [...generateTweets(options)]
      return () =>
        importInto(1, async (directory) => {
          const db = await openDatabase(join(directory, 'tweets.db'))
          return { write: () => db.insertMany(input, threadsOf(options)), close: () => db.close() }
        })
    }
    case 'petaldb-calls': {
      const input = [...inBatches(options, (tweet) => tweet)]
      return () =>
        importInto(input.length, async (directory) => {
          const db = await openDatabase(join(directory, 'tweets.db'))
          return { write: (i) => db.insertMany(input[i]!), close: () => db.close() }
        })
    }
    case 'petaldb-bytes': {
      const input = [...lineBlocks(options)]
      return () =>
        importInto(1, async (directory) => {
          const db = await openDatabase(join(directory, 'tweets.db'))
          return { write: () => db.importLines(input, threadsOf(options)), close: () => db.close() }
        })
    }
    case 'classic-level': {
      const operation = (tweet: Tweet) => ({
        type: 'put' as const,
        key: levelKey(tweet._id),
        value: JSON.stringify(tweet)
      })
      const input = [...inBatches(options, operation)]
      return () =>
        importInto(input.length, async (directory) => {
          const db = new ClassicLevel<string, string>(directory)
          await db.open()
          return { write: (i) => db.batch(input[i]!), close: () => db.close() }
        })
    }
  }
}

function threadsOf({ threads }: ImportInput): { readonly threads?: number } {
  return threads === undefined ? {} : { threads }
}

/** Lines of JSON, a buffer for each batch. A buffer for each line would keep V8 busy for most of a minute. */
export function* lineBlocks(options: ImportInput): Generator<Buffer> {
  for (const lines of inBatches(options, (tweet) => `${JSON.stringify(tweet)}\n`)) yield Buffer.from(lines.join(''))
}

function* inBatches<T>({ count, seed, batch }: ImportInput, make: (tweet: Tweet) => T): Generator<T[]> {
  let made: T[] = []
  for (const tweet of generateTweets({ count, seed })) {
    if (made.length === batch) {
      yield made
      made = []
    }
    made.push(make(tweet))
  }
  if (made.length > 0) yield made
}

async function importInto(batches: number, open: (directory: string) => Promise<Sink>): Promise<ImportTimes> {
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-import-'))
  try {
    const sink = await open(directory)
    globalThis.gc?.()
    const processor = process.cpuUsage()
    const begin = performance.now()
    for (let i = 0; i < batches; i++) await sink.write(i)
    const acknowledgedMilliseconds = performance.now() - begin
    await sink.close()
    const closedMilliseconds = performance.now() - begin
    const { user, system } = process.cpuUsage(processor)
    const processorMilliseconds = (user + system) / 1000
    const diskBytes = directoryBytes(directory).total
    return { acknowledgedMilliseconds, closedMilliseconds, processorMilliseconds, diskBytes }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
