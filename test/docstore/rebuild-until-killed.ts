/** Runs as a process of its own: has a thread rebuild the index of a database again and again until it is killed. */
import { open } from '../../src/index.ts'

const [location = '', segmentBits = ''] = process.argv.slice(2)
const db = await open(location, { index: { segmentBits: Number(segmentBits) }, autoRebuild: false })
for (;;) {
  await db.index.rebuild({ threads: 1 })
  console.log('ready')
}
