/**
 * The interface by which users define what can be looked up: the pairs that a value has, and the fields with zone
 * maps.
 *
 * An extractor is identified by module and version, because it is also called in the worker thread, and because a
 * filter made by another extractor or version must be recognized: such a filter answers "maybe" to everything.
 */

/** Plain data: sent to threads by structured clone, and recorded in every table with filters made by it. */
export interface ExtractorSpec {
  /** An absolute URL or a package specifier whose export `createExtractor(options)` returns an Extractor. */
  readonly module: string
  /** Name and version are stored in files; the module may move. */
  readonly name: string
  readonly version: number
  /** Passed to `createExtractor`; part of the identity, compared as JSON. */
  readonly options?: unknown
}

export interface Extractor {
  /**
   * Emits the pairs and zone values of one entry. Must be a pure function of key and value, with the same result in
   * every thread and after every reopen. The byte ranges are valid only during the call.
   */
  extract(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    valueBytes: Uint8Array,
    valueStart: number,
    valueEnd: number,
    sink: PairSink
  ): void
  /**
   * Writes the 64-bit hash that extract() emits for this pair into `into`, as two int32 halves.
   * @throws TypeError for a pair that extract() never emits for any entry: filters would rule it out
   */
  hash(pair: unknown, into: Int32Array): void
  /** Whether the entry really has the pair; makes lookup() exact. */
  matches(pair: unknown, key: Uint8Array, value: Uint8Array): boolean
  /** The entry's values of a zone field (see zoneFields); makes rangeLookup() exact. */
  zoneValues(field: string, key: Uint8Array, value: Uint8Array): readonly ZoneValue[]
  /** Paths with zone maps, in the order of their numbers. At most 64. */
  readonly zoneFields: readonly string[]
}

export interface PairSink {
  /** The two int32 halves of a pair's hash. */
  pair(lo: number, hi: number): void
  /** @param field index into zoneFields */
  zone(field: number, value: ZoneValue): void
}

/** Numbers order before strings; NaN is not a zone value. */
export type ZoneValue = number | string
