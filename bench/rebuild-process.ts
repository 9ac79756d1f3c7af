/**
 * Measures the queries of bench/rebuild.ts in one database, in a process that has seen no other: whenever the parent
 * sends the number of a query, that query is run, and its cost sent back.
 */
import { openDatabase } from './contenders/petaldb-api.ts'
import { costOf, queriesFor, warmUp } from './rebuild-queries.ts'

const [location, count] = process.argv.slice(2)
const queries = queriesFor(Number(count))
const db = await openDatabase(location!, { autoRebuild: false })
await warmUp(db, queries)
process.on('message', async (query: number) => process.send!(await costOf(db, queries[query]!)))
process.on('disconnect', () => db.close())
process.send!('ready')
