/** Directories that are removed when the test process exits, and databases to close at the end of a test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Closable {
  readonly status: string
  close(): Promise<void>
}

const directories: string[] = []
const databases: Closable[] = []

process.on('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/** A fresh, empty directory. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-lsm-test-'))
  directories.push(directory)
  return directory
}

/** Registers the database with closeAll(). */
export function closeLater<T extends Closable>(database: T): T {
  databases.push(database)
  return database
}

/** Closes the registered databases that are still open. */
export async function closeAll(): Promise<void> {
  for (const database of databases.splice(0)) {
    if (database.status !== 'closed') await database.close()
  }
}
