/**
 * The entry of the package in Node: index.ts, and what opening a directory takes. Elsewhere there may be no file system,
 * so that index.ts imports that on demand.
 */
import './lsm/fs/directory.ts'
import './lsm/lsm-level.ts'

export * from './index.ts'
