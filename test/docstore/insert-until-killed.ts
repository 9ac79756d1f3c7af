/**
 * Run as a process of its own: inserts, updates and deletes until it is killed, and prints each `_id` when the write
 * is acknowledged: `+id` stored, `=id version` updated, `-id` deleted.
 */
import { writeSync } from 'node:fs'
import { open } from '../../src/index.ts'

const [location = '', mode = 'one'] = process.argv.slice(2)
const db = await open(location, { index: { segmentBits: 512 } })
const from = (await db.estimatedDocumentCount()) + Number(process.argv[4] ?? 0)
const document = (id: number) => ({ _id: id, n: id % 7, text: `text of ${id}`, tags: [id % 3, id % 5], version: 0 })
writeSync(1, 'ready\n')

if (mode === 'many') {
  for (let id = from; ; id += 300) {
    const { insertedIds } = await db.insertMany(Array.from({ length: 300 }, (_, i) => document(id + i)))
    writeSync(
      1,
      `${Object.values(insertedIds)
        .map((each) => `+${each}\n`)
        .join('')}`
    )
  }
} else {
  for (let id = from; ; id++) {
    await db.insertOne(document(id))
    writeSync(1, `+${id}\n`)
    if (id % 3 === 0) {
      await db.updateOne({ _id: id }, { $inc: { version: 1 }, $set: { n: 100 } })
      writeSync(1, `=${id}\n`)
    }
    if (id % 11 === 0) {
      await db.deleteOne({ _id: id - 1 })
      writeSync(1, `-${id - 1}\n`)
    }
  }
}
