/**
 * Runs as a process of its own: moves money between accounts of two collections until it is killed, each transfer in a
 * transaction that also logs it. The number of each committed transfer is one line in the log file. Prints `ready` once
 * the first is.
 */
import { openSync, writeSync } from 'node:fs'
import { open } from '../../src/index.ts'
import { randomFrom } from '../support/random.ts'

const [location = '', log = '', seed = '1', store = 'lsm', lsm = '{}'] = process.argv.slice(2)
const db = await open(location, { store: store as 'lsm' | 'level', index: { segmentBits: 512 }, lsm: JSON.parse(lsm) })
const random = randomFrom(Number(seed))
const accounts = 50
const below = (limit: number): number => Math.floor(random() * limit)

if ((await db.collection('left').countDocuments()) === 0) {
  await db.withTransaction(async (tx) => {
    for (const name of ['left', 'right']) {
      const all = Array.from({ length: accounts }, (_, _id) => ({
        _id,
        balance: 100,
        text: `account ${_id} of ${name}`
      }))
      await tx.collection(name).insertMany(all)
    }
  })
}

// A file, because writing to a pipe fails if its reader is too slow.
const file = openSync(log, 'w')
const from = await db.collection('log').estimatedDocumentCount()
for (let number = from; ; number++) {
  const [left, right, amount] = [below(accounts), below(accounts), below(20)]
  await db.withTransaction(async (tx) => {
    await tx.collection('left').updateOne({ _id: left }, { $inc: { balance: -amount }, $set: { last: number } })
    await tx.collection('right').updateOne({ _id: right }, { $inc: { balance: amount }, $set: { last: number } })
    await tx.collection('log').insertOne({ _id: number, left, right, amount })
  })
  writeSync(file, `${number}\n`)
  if (number === from) console.log('ready')
}
