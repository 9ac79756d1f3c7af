/**
 * Runs as a process of its own: imports lines with threads until it is killed, or has reached `end` lines. Continues
 * after the stored documents. The last line of the log is the reported number of documents. Prints `ready` once the
 * first ones are stored. It closes nothing: an import that has ended does not keep a process alive.
 */
import { openSync, writeSync } from 'node:fs'
import { open } from '../../src/index.ts'
import { bytesOf, smallSegments, tweetLines } from './load-cases.ts'

const [location = '', log = '', end = 'Infinity', threads = '2'] = process.argv.slice(2)
const db = await open(location, smallSegments)
const from = await db.estimatedDocumentCount()
const linesPerChunk = 100

async function* source(): AsyncGenerator<Uint8Array> {
  for (let at = from; at < Number(end); at += linesPerChunk) {
    yield bytesOf(tweetLines(at, Math.min(at + linesPerChunk, Number(end))))
  }
}

// A file, because writing to a pipe fails if its reader is too slow.
const file = openSync(log, 'w')
let isFirst = true
await db.importLines(source(), {
  threads: Number(threads),
  onProgress: ({ insertedCount }) => {
    writeSync(file, `${from + insertedCount}\n`)
    if (isFirst) console.log('ready')
    isFirst = false
  }
})
