/**
 * A process that locks directories for fs-lock.test.ts, ordered by messages from its parent: `acquire` (at a given
 * time, so that several start together), `release`, and `loop` (acquire and release until killed).
 */
import { hasCode } from '../../src/lsm/errors.ts'
import { acquireLock, type Lock } from '../../src/lsm/fs/lock.ts'
import { nodeFileSystem } from '../../src/lsm/fs/node-file-system.ts'

export type Order =
  | { readonly kind: 'acquire'; readonly directory: string; readonly at: number }
  | { readonly kind: 'release' }
  | { readonly kind: 'loop'; readonly directory: string }

let lock: Lock | undefined

process.on('message', (order: Order) => {
  if (order.kind === 'acquire') {
    while (Date.now() < order.at);
    process.send?.(tryToAcquire(order.directory))
  } else if (order.kind === 'release') {
    lock?.release()
    process.send?.('released')
  } else {
    process.send?.('looping')
    for (;;) acquireLock(nodeFileSystem, order.directory).release()
  }
})
process.send?.('ready')

function tryToAcquire(directory: string): string {
  try {
    lock = acquireLock(nodeFileSystem, directory)
    return 'acquired'
  } catch (error) {
    return hasCode(error, 'LEVEL_LOCKED') ? 'locked' : String(error)
  }
}
