/** Opens many databases and leaves them open; run by engine-idle.test.ts. */
import { join } from 'node:path'
import { LsmLevel } from '../../src/lsm/index.ts'

const location = process.env.LOCATION ?? ''
const count = 508

const databases = Array.from({ length: count }, (_, i) => new LsmLevel<string, string>(join(location, String(i))))
await Promise.all(databases.map((db) => db.open()))
for (const db of databases.slice(0, 20)) await db.put('k', 'v')
// Runs a job, so that a worker thread exists too.
await databases[0]?.flush()
console.log(`${databases.filter((db) => db.status === 'open').length} are open`)
