/** Who has a database open for writing, for messages. */
import { holderOf } from '../../lsm/fs/lock.ts'
import { nodeFileSystem } from '../../lsm/fs/node-file-system.ts'

/** Such as `process 4711`, if another process has the database open, or had just now. Unknown for LevelDB. */
export function holderOfDatabase(location: string): string | undefined {
  return holderOf(nodeFileSystem, location)
}
