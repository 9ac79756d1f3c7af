/**
 * Declarations of packages that only bench/package.json installs, as far as the benchmarks use them, so that the
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
    constructor(options?: { readonly filename?: string })
    loadDatabaseAsync(): Promise<void>
    ensureIndexAsync(options: { readonly fieldName: string }): Promise<void>
    insertAsync(documents: readonly T[]): Promise<T[]>
    findAsync(filter: object): Cursor<T>
    updateAsync(filter: object, update: object, options: object): Promise<unknown>
    removeAsync(filter: object, options: object): Promise<number>
  }
}

declare module 'pg' {
  interface Client {
    connect(): Promise<void>
    query(sql: string, parameters?: readonly unknown[]): Promise<{ readonly rows: Record<string, unknown>[] }>
    end(): Promise<void>
  }
  const pg: { readonly Client: new (options: object) => Client }
  export default pg
}

declare module 'lokijs' {
  interface Chain {
    where(matches: (document: never) => boolean): Chain
    simplesort(property: string, isDescending: boolean): Chain
    limit(count: number): Chain
    data(): unknown[]
  }
  interface Collection {
    insert(document: object): unknown
    chain(): Chain
  }
  export default class Loki {
    constructor(name: string)
    addCollection(name: string, options: object): Collection
  }
}

declare module 'msgpackr' {
  export class Packr {
    constructor(options: object)
    pack(value: unknown): Buffer
    unpack(bytes: Uint8Array): unknown
  }
}
