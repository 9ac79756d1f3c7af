/**
 * Runs as a process of its own: replaces a collection by $out until it is killed, each time with documents of the next
 * generation. Each generation is logged as a line once it is stored. Prints `ready` after the first.
 */
import { openSync, writeSync } from 'node:fs'
import { open } from '../../src/index.ts'

const [location = '', store = 'lsm', log = '', first = '0'] = process.argv.slice(2)
const db = await open(location, { store: store as 'lsm' | 'level', index: { segmentBits: 512 } })
if ((await db.estimatedDocumentCount()) === 0) {
  await db.insertMany(Array.from({ length: 1200 }, (_, i) => ({ _id: i, n: i % 7, text: `text of ${i}` })))
  await db.collection('made').createIndex({ key: 1 }, { unique: true })
}

// A file, because writing to a pipe fails if its reader is too slow.
const file = openSync(log, 'w')
for (let generation = Number(first); ; generation++) {
  await db.aggregate([{ $set: { generation, key: { $add: ['$_id', generation] } } }, { $out: 'made' }]).toArray()
  writeSync(file, `${generation}\n`)
  if (generation === Number(first)) console.log('ready')
}
