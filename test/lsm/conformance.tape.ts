/** Runs the published suite of abstract-level on this store and a sublevel of it; started by conformance.test.ts. */
import { existsSync } from 'node:fs'
import suite from 'abstract-level/test/index.js'
import test from 'tape'
import { LsmLevel } from '../../src/lsm/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// The suite creates a thousand databases: in memory, where that is possible, their syncs cost nothing.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

suite({ test, factory: (options?: object) => new LsmLevel(temporaryDirectory(), options) })
