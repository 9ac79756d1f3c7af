/**
 * Measures the queries of bench/rebuild.ts in one database, in a process that has seen no other: prints their costs as
 * JSON.
 *
 *     node --import tsx bench/rebuild-process.ts <location> <count>
 */
import { openDatabase } from './contenders/petaldb-api.ts'
import { costsOf, queriesFor, warmUp } from './rebuild-queries.ts'

const [location, count] = process.argv.slice(2)
const queries = queriesFor(Number(count))
await using db = await openDatabase(location!, { autoRebuild: false })
await warmUp(db, queries)
console.log(JSON.stringify([...(await costsOf(db, queries))]))
