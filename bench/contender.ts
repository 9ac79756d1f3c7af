/** The interface of a store that takes part in the comparison. */
import type { Document } from '../src/model/types.ts'
import type { Query } from '../src/workload/query-classes.ts'

export const contenderNames = [
  'petaldb',
  'postgres-gin',
  'sqlite',
  'sqlite-indexed',
  'nedb',
  'lokijs',
  'mingo',
  'level-scan'
] as const

export type ContenderName = (typeof contenderNames)[number]

export interface Contender {
  /** Library, version, and how it is used. */
  readonly description: string
  /** Stores one batch. A contender uses whichever form suits it; both are ready made. */
  load(documents: readonly Document[], json: readonly string[]): Promise<void>
  /** Called after the last batch, for what a careful user would do before querying. */
  settle(): Promise<void>
  /** All matches as objects, copied or not, in any order unless the query sorts. */
  find(query: Query): Promise<readonly Document[]>
  /** Bytes of the index alone, for stores that know them; called last. */
  indexBytes?(): Promise<IndexBytes>
  close(): Promise<void>
}

export interface IndexBytes {
  readonly total: number
  /** Bytes of a Bloom index's rows, including private ones; without range codes, upper level and directory. */
  readonly rows?: number
}

/** Opens the store in its own directory, which is empty the first time. */
export type OpenContender = (directory: string) => Promise<Contender>

/** One import per contender, so that a process loads only the library it measures. */
export async function opener(name: ContenderName): Promise<OpenContender> {
  switch (name) {
    case 'petaldb':
      return (await import('./contenders/petaldb.ts')).openPetalDb
    case 'sqlite':
      return (await import('./contenders/sqlite.ts')).openSqlite
    case 'sqlite-indexed':
      return (await import('./contenders/sqlite.ts')).openIndexedSqlite
    case 'nedb':
      return (await import('./contenders/nedb.ts')).openNeDb
    case 'postgres-gin':
      return (await import('./contenders/postgres.ts')).openPostgres
    case 'lokijs':
      return (await import('./contenders/loki.ts')).openLoki
    case 'mingo':
      return (await import('./contenders/mingo.ts')).openMingo
    case 'level-scan':
      return (await import('./contenders/level-scan.ts')).openLevelScan
  }
}
