/** Directories that are removed when the test process ends, and small helpers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type ErrorName, PetalError } from '../../src/model/errors.ts'

const created: string[] = []

process.on('exit', () => {
  for (const directory of created) rmSync(directory, { recursive: true, force: true })
})

/** A path in a new directory; nothing exists at it yet. */
export function scratchPath(name = 'db'): string {
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-test-'))
  created.push(directory)
  return join(directory, name)
}

/** Asserts that the promise is rejected with a PetalError of this name. @returns the error */
export async function rejects(promise: Promise<unknown>, codeName: ErrorName): Promise<PetalError> {
  try {
    await promise
  } catch (error) {
    assert.instance(error, PetalError)
    assert.is((error as PetalError).codeName, codeName, (error as PetalError).message)
    return error as PetalError
  }
  assert.unreachable(`expected ${codeName}`)
  throw new Error('unreachable')
}
