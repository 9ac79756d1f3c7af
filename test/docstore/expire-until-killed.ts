/**
 * Runs as a process of its own. `leave`: ends without closing its database. `expire`: inserts documents until it is
 * killed, all but one in ten of them expired; prints `ready` once the first sweep has deleted some.
 */
import { open } from '../../src/index.ts'

const [location = '', mode = 'leave'] = process.argv.slice(2)
const db = await open(location, { ttlIntervalSeconds: mode === 'leave' ? 60 : 0.005, index: { segmentBits: 512 } })
await db.createIndex({ at: 1 }, { expireAfterSeconds: 0 })
await db.insertOne({ at: new Date(Date.now() + 1e9) })

let isReady = mode === 'leave'
while (mode === 'expire') {
  await db.insertMany(Array.from({ length: 500 }, (_, i) => (i % 10 === 0 ? { i } : { i, at: new Date(0) })))
  if (isReady || ((await db.stats()).collections[0]?.expiry.deleted ?? 0) === 0) continue
  console.log('ready')
  isReady = true
}
