/** Checks a database from the bottom up: first the store, if it can check itself; then each collection. */
import { AbortedError, throwIfAborted } from '../../model/errors.ts'
import type { Collections } from '../collections.ts'
import { fromStore } from '../errors.ts'
import type { Known } from '../known-options.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { Store } from '../options.ts'
import { Findings, type VerifyProblem } from './findings.ts'
import { CollectionCheck } from './verify-collection.ts'

/** Options of Database.verify(). */
export interface VerifyOptions {
  /** Aborts the check with an AbortedError. */
  readonly signal?: AbortSignal | undefined
  /** Called from time to time. */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
}

export const knownVerifyOptions = { signal: true, onProgress: true } satisfies Known<VerifyOptions>

/** Progress of Database.verify(). */
export interface VerifyProgress {
  /** Name of the collection being checked; undefined for the underlying store. */
  readonly collection: string | undefined
  /** Items checked so far, and the total: tables of the store, or documents of the collection. */
  readonly checked: number
  readonly total: number
}

/** Result of Database.verify(). */
export interface DatabaseVerifyReport {
  /** Whether the store could be checked. */
  readonly hasCheckedStore: boolean
  /** Number of documents checked. */
  readonly documents: number
  /** At most a thousand; empty if all is well. */
  readonly problems: readonly VerifyProblem[]
  /** Number of all problems found, including those beyond the limit of `problems`. */
  readonly problemCount: number
}

/** @returns the problems found; they are not thrown @throws AbortedError */
export async function verifyDatabase(
  collections: Collections,
  options: VerifyOptions = {}
): Promise<DatabaseVerifyReport> {
  const findings = new Findings()
  const hasCheckedStore = await verifyStore(collections.store, findings, options)
  let documents = 0
  for (const name of collections.names) documents += await verifyCollection(collections, name, findings, options)
  return { hasCheckedStore, documents, problems: findings.problems, problemCount: findings.count }
}

/** @returns the number of documents in the collection */
async function verifyCollection(
  collections: Collections,
  name: string,
  findings: Findings,
  options: VerifyOptions
): Promise<number> {
  for (;;) {
    let collection: OpenCollection | undefined
    const found = new Findings()
    try {
      collection = await collections.openForRead(name)
      const documents = collection === undefined ? 0 : await checkOf(collection, found, options).run()
      if (collection !== undefined) addIndexDamage(collection, collections.isReadOnly, found)
      findings.merge(found)
      return documents
    } catch (error) {
      if (error instanceof AbortedError) throw error
      // The collection was dropped or replaced; check its replacement instead.
      if (collection !== undefined && (await collections.openForRead(name)) !== collection) continue
      const cause = fromStore(error)
      const { codeName, message } = cause as { readonly codeName?: unknown; readonly message?: unknown }
      if (codeName !== 'DataCorruption' && codeName !== 'StoreFailure' && codeName !== 'IndexDamaged') throw cause
      findings.merge(found)
      findings.add(name, codeName === 'IndexDamaged' ? 'index' : 'store', String(message))
      return 0
    }
  }
}

/** What was found at opening has been repaired, but by a read-only opening only in memory. */
function addIndexDamage(collection: OpenCollection, isReadOnly: boolean, findings: Findings): void {
  const { damage, unrepaired } = collection.indexStats()
  for (const what of isReadOnly ? damage : unrepaired) {
    findings.add(collection.name, 'index', `${what}; the next opening for writing repairs it`)
  }
}

function checkOf(
  collection: OpenCollection,
  findings: Findings,
  { signal, onProgress }: VerifyOptions
): CollectionCheck {
  const { name } = collection
  return new CollectionCheck(collection, signal, {
    onProblem: (kind, what) => findings.add(name, kind, what),
    onProgress: (checked, total) => onProgress?.({ collection: name, checked, total })
  })
}

/** Implemented by LsmLevel. */
interface VerifiedStore {
  verify(options: {
    readonly signal: AbortSignal | undefined
    readonly onProgress: (progress: { readonly tables: number; readonly totalTables: number }) => void
  }): Promise<{ readonly problems: readonly StoreProblem[]; readonly problemCount: number }>
}

interface StoreProblem {
  readonly kind: string
  readonly path: string
  readonly offset?: number | undefined
  readonly what: string
}

async function verifyStore(store: Store, findings: Findings, options: VerifyOptions): Promise<boolean> {
  if (store.supports.additionalMethods?.verify !== true) return false
  const { problems, problemCount } = await (store as unknown as VerifiedStore)
    .verify({
      signal: options.signal,
      onProgress: ({ tables, totalTables }) =>
        options.onProgress?.({ collection: undefined, checked: tables, total: totalTables })
    })
    .catch((error: unknown) => {
      throwIfAborted(options.signal)
      throw fromStore(error)
    })
  for (const { kind, path, offset, what } of problems) {
    findings.add(undefined, kind, `${path}${offset === undefined ? '' : ` at offset ${offset}`}: ${what}`)
  }
  findings.count += problemCount - problems.length
  return true
}
