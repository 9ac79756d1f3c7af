/**
 * What the values of a store mean to it: which pairs a value has, and which fields are worth a zone map.
 *
 * An extractor is named by module and version, because it is called in the worker thread too, and because a filter
 * made by another extractor, or by another version, must be recognised: such a filter says "maybe" to everything.
 */

/** Data: crosses threads by structured clone, and is written into every table it made filters for. */
export interface ExtractorSpec {
  /** An absolute URL or a package specifier whose export `createExtractor(options)` returns an Extractor. */
  readonly module: string
  /** Name and version stand in files; the module may move. */
  readonly name: string
  readonly version: number
  /** Handed to `createExtractor`; part of the identity, compared as JSON. */
  readonly options?: unknown
}

export interface Extractor {
  /**
   * Emits the pairs and zone values of one entry. A strict function of key and value: the same in every thread, after
   * every reopen. The byte ranges are valid during the call only.
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
   * The 64-bit hash that extract() emits for this pair, as two int32 halves written into `into`.
   * @throws TypeError for what extract() never emits, whatever the entry: filters would deny it
   */
  hash(pair: unknown, into: Int32Array): void
  /** Whether the entry really has the pair; what makes lookup() exact. */
  matches(pair: unknown, key: Uint8Array, value: Uint8Array): boolean
  /** The values of a zone field (see zoneFields) that the entry has; what makes rangeLookup() exact. */
  zoneValues(field: string, key: Uint8Array, value: Uint8Array): readonly ZoneValue[]
  /** Paths that get a zone map, in the order of their numbers. At most 64. */
  readonly zoneFields: readonly string[]
}

export interface PairSink {
  /** Halves of a pair's hash, int32. */
  pair(lo: number, hi: number): void
  /** @param field index into zoneFields */
  zone(field: number, value: ZoneValue): void
}

/** Numbers order before strings; NaN is not a zone value. */
export type ZoneValue = number | string
