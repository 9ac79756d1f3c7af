/**
 * Extractor for the LSM store's value filters: yields the pairs of every record under `<n>.docs`, and nothing for other
 * keys. The threads that write tables load this module by its URL.
 *
 * Invariant: extract() throws for a document whose pairs are not all known, because there are too many or the record
 * cannot be read: filters of its table then answer "maybe" to every query.
 */
import { siblingModule } from '../../lsm/sibling-module.ts'
import type { Extractor, ExtractorSpec, PairSink, ZoneValue } from '../../lsm/value/extractor.ts'
import type { Pair } from '../../model/pairs.ts'
import type { Document } from '../../model/types.ts'
import { DocumentPairs } from '../../sharded-bloom/pairs/document-pairs.ts'
import { decodeRecord } from '../documents/record.ts'

/** Identifies this module to the store. */
export const pairExtractor: ExtractorSpec = {
  module: siblingModule(import.meta.url, 'pair-extractor'),
  name: 'petaldb.pairs',
  version: 1
}

export function createExtractor(): Extractor {
  return new PairExtractor()
}

class PairExtractor implements Extractor {
  readonly zoneFields: readonly string[] = []
  readonly #pairs = new DocumentPairs()

  extract(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    valueBytes: Uint8Array,
    valueStart: number,
    valueEnd: number,
    sink: PairSink
  ): void {
    if (!isDocumentKey(keyBytes, keyStart, keyEnd)) return
    this.#pairs.visit(documentIn(valueBytes, valueStart, valueEnd), (lo, hi) => sink.pair(lo, hi))
  }

  hash(pair: unknown, into: Int32Array): void {
    const { lo, hi } = this.#pairs.hash(pair as Pair)
    into[0] = lo
    into[1] = hi
  }

  matches(pair: unknown, key: Uint8Array, value: Uint8Array): boolean {
    return isDocumentKey(key, 0, key.length) && this.#pairs.has(documentIn(value, 0, value.length), pair as Pair)
  }

  zoneValues(): readonly ZoneValue[] {
    return []
  }
}

function documentIn(bytes: Uint8Array, start: number, end: number): Document {
  return decodeRecord(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'))
}

const bang = 0x21
const suffix = new TextEncoder().encode('.docs!')

/** True for `!<digits>.docs!…`: see layout.ts. */
function isDocumentKey(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  if (bytes[at++] !== bang) return false
  const firstDigit = at
  while (at < end && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++
  if (at === firstDigit || end - at < suffix.length) return false
  for (let i = 0; i < suffix.length; i++) if (bytes[at + i] !== suffix[i]) return false
  return true
}
