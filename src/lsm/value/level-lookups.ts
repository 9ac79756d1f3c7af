/** Lookups in terms of an abstract-level database: encodings, snapshots and signals. */
import type { AbstractSnapshot, Transcoder } from 'abstract-level'
import type { Cancellation } from './attached.ts'
import type { Entry, LookupOptions } from './lookup.ts'

/** Options of keyRanges() and the lookups. */
export interface ValueQueryOptions {
  /** Only keys that begin with these bytes, or with the UTF-8 bytes of this string. Default: all keys. */
  readonly prefix?: Uint8Array | string | undefined
  readonly snapshot?: AbstractSnapshot | undefined
  /** Aborts with LEVEL_ABORTED. */
  readonly signal?: AbortSignal | undefined
}

export interface ValueLookupOptions<K, V> extends ValueQueryOptions {
  /** Maximum number of entries; Infinity and -1 mean all, as for iterators. Default: all. */
  readonly limit?: number | undefined
  /** Oldest first. Default false. */
  readonly reverse?: boolean | undefined
  readonly keyEncoding?: string | Transcoder.PartialDecoder<K> | undefined
  readonly valueEncoding?: string | Transcoder.PartialDecoder<V> | undefined
}

/** Encodings as returned by abstract-level: whatever they are, they decode the bytes that this store returns. */
export interface EntryDecoder {
  readonly key: unknown
  readonly value: unknown
}

export function lookupOptions(
  { prefix, ...options }: ValueQueryOptions & Partial<Pick<ValueLookupOptions<never, never>, 'limit' | 'reverse'>>,
  signal: Cancellation
): LookupOptions {
  const { limit: most, reverse } = options
  const limit = Number.isInteger(most) && Number(most) >= 0 ? most : undefined
  return { limit, reverse, prefix: typeof prefix === 'string' ? Buffer.from(prefix) : prefix, signal }
}

/** Checks arguments of rangeLookup(). @throws TypeError for a bound that has no place in the order of values, such as NaN */
export function assertRange(field: unknown, low: unknown, high: unknown): void {
  if (typeof field !== 'string') throw new TypeError("The first argument 'field' must be a string")
  for (const [name, bound] of Object.entries({ low, high })) {
    if (bound === undefined || typeof bound === 'string' || (typeof bound === 'number' && !Number.isNaN(bound)))
      continue
    throw new TypeError(`The argument '${name}' must be a number, a string or undefined, received ${String(bound)}`)
  }
}

/** Decodes entries, keeping the snapshot open meanwhile. */
export async function* decodeEntries<K, V>(
  entries: AsyncGenerator<Entry, void>,
  decoder: EntryDecoder,
  snapshot: AbstractSnapshot | undefined
): AsyncGenerator<[K, V], void> {
  const keys = decoder.key as { decode(bytes: Buffer): K }
  const values = decoder.value as { decode(bytes: Buffer): V }
  snapshot?.ref()
  try {
    for await (const [key, value] of entries) yield [keys.decode(key), values.decode(value)]
  } finally {
    snapshot?.unref()
  }
}
