/** Directories that vanish with the test process, and the databases to close before. */
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

/** Has `closeAll` close the database. */
export function closeLater<T extends Closable>(database: T): T {
  databases.push(database)
  return database
}

/** Closes what tests left open. */
export async function closeAll(): Promise<void> {
  for (const database of databases.splice(0)) {
    if (database.status !== 'closed') await database.close()
  }
}
