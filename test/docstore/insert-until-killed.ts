/**
 * Runs as a process of its own: inserts, updates and deletes until it is killed. Each acknowledged write is one line in
 * the log: `+id` stored, `=id` updated, `-id` deleted. Prints `ready` once the first is acknowledged.
 */
import { openSync, writeSync } from 'node:fs'
import { open } from '../../src/index.ts'

const [location = '', mode = 'one', log = '', offset = '0', ids = 'table'] = process.argv.slice(2)
const db = await open(location, { ids: ids as 'table' | 'reversible', index: { segmentBits: 512 } })
const from = (await db.estimatedDocumentCount()) + Number(offset)
const document = (id: number) => ({ _id: id, n: id % 7, text: `text of ${id}`, tags: [id % 3, id % 5], version: 0 })

// A file, because writing to a pipe fails if its reader is too slow.
const file = openSync(log, 'w')
let isFirst = true
function acknowledge(lines: string): void {
  writeSync(file, lines)
  if (isFirst) console.log('ready')
  isFirst = false
}

if (mode === 'many') {
  for (let id = from; ; id += 300) {
    const { insertedIds } = await db.insertMany(Array.from({ length: 300 }, (_, i) => document(id + i)))
    const lines = Object.values(insertedIds).map((each) => `+${each}\n`)
    acknowledge(lines.join(''))
  }
} else {
  for (let id = from; ; id++) {
    await db.insertOne(document(id))
    acknowledge(`+${id}\n`)
    if (id % 3 === 0) {
      await db.updateOne({ _id: id }, { $inc: { version: 1 }, $set: { n: 100 } })
      acknowledge(`=${id}\n`)
    }
    if (id % 11 === 0) {
      await db.deleteOne({ _id: id - 1 })
      acknowledge(`-${id - 1}\n`)
    }
  }
}
