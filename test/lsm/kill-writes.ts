/** The writes of kill-writer.ts: functions of the write's number, so that its parent knows them too. */
import type { StoreOptions } from '../../src/lsm/index.ts'
import { createRandom } from '../bloom/random.ts'
import type { TestOperation } from '../support/lsm-history.ts'

/** Flushes and merges run all the time. */
export const writerOptions: StoreOptions = {
  writeBufferSize: 64 * 1024,
  maxFileSize: 32 * 1024,
  level1Bytes: 128 * 1024,
  level0CompactionTrigger: 2,
  blockSize: 1024,
  partitionDepth: 1
}

/** Every write puts its number here, which tells how many writes a store has. */
export const counterKey = '!a!counter'

const keyCount = 300

/** One batch: the counter, and puts and deletions of a few keys. */
export function operationsOf(write: number): readonly TestOperation[] {
  const random = createRandom(write)
  const operations: TestOperation[] = [{ key: counterKey, value: String(write) }]
  for (let count = 1 + random.below(6); count > 0; count--) {
    const n = random.below(keyCount)
    const key = `!${n % 3 === 0 ? 'a' : 'b'}!${n}`
    const size = random.below(20) === 0 ? 4000 : random.below(200)
    operations.push(random.below(5) === 0 ? { key } : { key, value: `${write}.${count}:`.padEnd(size, 'x') })
  }
  return operations
}
