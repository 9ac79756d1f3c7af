/** What a store has to offer to take part in the comparison. */
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
  /** Stores one batch. A contender takes whichever form it likes better; both are ready made. */
  load(documents: readonly Document[], json: readonly string[]): Promise<void>
  /** After the last batch: whatever a careful user does before asking. */
  settle(): Promise<void>
  /** Every match as an object of its own or of the store's, in any order unless the query sorts. */
  find(query: Query): Promise<readonly Document[]>
  /** Bytes of the index alone, where the store can tell; asked last. */
  indexBytes?(): Promise<IndexBytes>
  close(): Promise<void>
}

export interface IndexBytes {
  readonly total: number
  /** Of the rows of a Bloom index, private ones included; without its range codes, upper level and directory. */
  readonly rows?: number
}

/** Opens the store in a directory of its own, which is empty the first time. */
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
