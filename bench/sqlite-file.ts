/** Opens an SQLite file with the settings of all benchmarks. */
import Sqlite from 'better-sqlite3'

export function openSqliteFile(path: string): Sqlite {
  const db = new Sqlite(path)
  db.pragma('journal_mode = WAL')
  db.pragma('cache_size = -262144')
  db.pragma('mmap_size = 1073741824')
  return db
}
