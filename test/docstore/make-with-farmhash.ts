/** Runs as a process of its own where npm farmhash can be loaded: creates a database whose indexes use that hash. */
import { type OpenOptions, open } from '../../src/index.ts'

const [location = '', options = '{}', ...collections] = process.argv.slice(2)
const documents = Array.from({ length: 1800 }, (_, i) => ({ _id: i, n: i % 50, text: `number ${i}` }))
const index = { hash: 'farmhash', segmentBits: 512 } as const
const db = await open(location, JSON.parse(options) as OpenOptions)
for (const name of collections) await db.collection(name, { index }).insertMany(documents)
await db.close()
