/** abstract-level's published suite on this store and on a sublevel of it; run by conformance.test.ts. */
import { existsSync } from 'node:fs'
import suite from 'abstract-level/test/index.js'
import test from 'tape'
import { LsmLevel } from '../../src/lsm/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// A thousand databases are made: in memory, where there is such a place, their syncs cost nothing.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

suite({ test, factory: (options?: object) => new LsmLevel(temporaryDirectory(), options) })
