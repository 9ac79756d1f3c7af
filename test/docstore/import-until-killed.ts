/**
 * Run as a process of its own: imports lines with threads until it is killed, or until it has so many of them. Goes on behind
 * the documents that are there. How many it was told are there is the last line of the log. Says `ready` when the first are.
 * It closes nothing: nothing of an import that has ended keeps a process alive.
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

// A file and not a pipe: a pipe that the reader does not empty in time refuses to be written.
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
