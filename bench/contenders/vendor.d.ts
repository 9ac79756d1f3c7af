/**
 * The few declarations that the benchmarks use of packages that only bench/package.json installs, so that the
 * repository type-checks without them.
 */
declare module 'better-sqlite3' {
  export interface Statement {
    run(...parameters: readonly unknown[]): unknown
    all(...parameters: readonly unknown[]): unknown[]
    pluck(): Statement
  }
  export default class Database {
    constructor(location: string)
    exec(sql: string): this
    pragma(source: string): unknown
    prepare(sql: string): Statement
    transaction<T>(run: (argument: T) => void): (argument: T) => void
    close(): void
  }
}

declare module '@seald-io/nedb' {
  interface Cursor<T> extends Promise<T[]> {
    sort(order: Readonly<Record<string, 1 | -1>>): Cursor<T>
    limit(count: number): Cursor<T>
  }
  export default class Datastore<T> {
    constructor()
    insertAsync(documents: readonly T[]): Promise<T[]>
    findAsync(filter: object): Cursor<T>
  }
}
