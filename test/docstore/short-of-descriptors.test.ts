/** A process with as many files open as it may have: idle tables are closed for whatever has to be opened. */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loader, program } from '../support/program.ts'
import { scratchPath } from './scratch.ts'

test('flushes, compactions, backups, logs, manifests and other databases get the descriptors of idle tables', async () => {
  const directory = scratchPath()
  mkdirSync(directory)
  const limited = 'ulimit -n 128; exec "$@"'
  const child = [process.execPath, ...loader, program('test/docstore/short-of-descriptors.ts'), directory]
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, 'sh', ...child])
  assert.equal(JSON.parse(stdout), {
    failures: [],
    names: ['backup', 'level', 'new', 'other', 'other backup']
  })
})

test.run()
