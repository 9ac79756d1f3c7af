/**
 * Pure policy: which values of the next segment's documents are kept as columns, from a sample of the last one's.
 *
 * A column is worth its bytes where documents have one value each and values are many. One whose values grow with the
 * ordinal costs a quarter of a byte per document and answers best, and is always taken.
 */
import { compareStrings } from '../../model/compare.ts'
import { Type } from '../../model/types.ts'
import { bitsOfCodes, maxBins } from './bins.ts'
import { type ColumnSpec, maxColumns, maxPrefix, rangeTypes } from './column-spec.ts'

/**
 * `'numbers'`: numbers and dates. `'all'`: strings, too. `'auto'`: numbers, dates, and strings that grow with the ordinal,
 * such as ISO dates. `'none'`: ranges are bounded by types alone.
 */
export type RangeCodes = 'auto' | 'numbers' | 'all' | 'none'

/** The values of sampled documents, each by a number, and what a number stands for. */
export interface ColumnSample {
  /** Documents, in the order of ordinals. */
  readonly size: number
  /** Of the documents one after the other, the numbers of their values, each once in a document. */
  readonly members: Int32Array
  /** Where a document's numbers begin; those of the one before end there. */
  startOf(document: number): number
  readonly values: ColumnValues
}

export interface ColumnValues {
  path(number: number): string
  /** Small, and the same for the same path. */
  pathNumber(number: number): number
  tag(number: number): number
  key(number: number): number | string
}

/** Documents that are looked at, about: spread over all, so that growing texts show what grows. */
const columnSampleDocuments = 512
/** Documents that must have the value, of the sample. */
const minShare = 1 / 64
const minDistinct = 4
const documentsPerStep = 16
/** Texts of fewer distinct values than this share of their documents are names and labels, which nobody cuts ranges of. */
const minTextShare = 1 / 8
/** Bytes per document. */
const numberBudget = 12
const textBudget = 15
/** Characters of what growing texts have in common that may change in the segment to come: the days of a month, say. */
const prefixSlack = 3

/** In steps of less than a millisecond. */
export function* columnSteps(sample: ColumnSample, choice: RangeCodes): Generator<void, ColumnSpec[]> {
  if (choice === 'none') return []
  const { candidates: all, sampled } = yield* candidatesOf(sample, choice)
  const candidates = all.filter(
    (candidate) => isWorthIt(candidate, sampled) && (candidate.isText ? choice === 'all' || candidate.isGrowing : true)
  )
  candidates.sort((a, b) => Number(b.isGrowing) - Number(a.isGrowing) || b.single - a.single)
  const left = { numbers: numberBudget, texts: textBudget }
  const chosen: ColumnSpec[] = []
  for (const candidate of candidates) {
    const part = candidate.isText ? 'texts' : 'numbers'
    const cost = bytesPerDocument(candidate, sampled)
    if (chosen.length === maxColumns || left[part] < cost) continue
    left[part] -= cost
    chosen.push(specOf(candidate))
  }
  return chosen
}

interface Candidate {
  readonly spec: ColumnSpec
  readonly isText: boolean
  readonly values: Set<number | string>
  /** Documents with any, and with exactly one value. */
  documents: number
  single: number
  isGrowing: boolean
  last: number | string | undefined
  first: number | string | undefined
  /** Of the document being looked at. */
  document: number
  count: number
}

/** In the order in which their paths and types are first met. */
function* candidatesOf(
  sample: ColumnSample,
  choice: RangeCodes
): Generator<void, { readonly candidates: Candidate[]; readonly sampled: number }> {
  const candidates = new Candidates(sample.values, choice)
  const stride = Math.max(1, Math.floor(sample.size / columnSampleDocuments))
  let sampled = 0
  for (let document = 0; document < sample.size; document += stride) {
    candidates.note(sample.members, sample.startOf(document), sample.startOf(document + 1), sampled)
    if (++sampled % documentsPerStep === 0) yield
  }
  return { candidates: candidates.all, sampled }
}

class Candidates {
  readonly all: Candidate[] = []
  readonly #byPathOfType: readonly Map<number, Candidate>[] = rangeTypes.map(() => new Map<number, Candidate>())
  readonly #values: ColumnValues
  readonly #choice: RangeCodes

  constructor(values: ColumnValues, choice: RangeCodes) {
    this.#values = values
    this.#choice = choice
  }

  /** A document's values. */
  note(members: Int32Array, from: number, to: number, document: number): void {
    for (let at = from; at < to; at++) {
      const number = members[at]!
      const candidate = this.#candidateOf(number)
      // Of texts most are names and prose, and out of the question after a few documents.
      if (candidate === undefined || (candidate.isText && !candidate.isGrowing && this.#choice === 'auto')) continue
      note(candidate, document, this.#values.key(number))
    }
  }

  #candidateOf(number: number): Candidate | undefined {
    const type = rangeTypeOf(this.#values.tag(number))
    if (type < 0 || (rangeTypes[type] === Type.string && this.#choice === 'numbers')) return undefined
    const path = this.#values.pathNumber(number)
    return this.#byPathOfType[type]!.get(path) ?? this.#add(number, type, path)
  }

  #add(number: number, type: number, path: number): Candidate {
    const candidate = newCandidate({ path: this.#values.path(number), type: rangeTypes[type]!, prefix: '' })
    this.#byPathOfType[type]!.set(path, candidate)
    this.all.push(candidate)
    return candidate
  }
}

/** Its place among rangeTypes, or −1. */
function rangeTypeOf(tag: number): number {
  for (let type = 0; type < rangeTypes.length; type++) if (rangeTypes[type] === tag) return type
  return -1
}

function newCandidate(spec: ColumnSpec): Candidate {
  return {
    spec,
    isText: spec.type === Type.string,
    values: new Set(),
    documents: 0,
    single: 0,
    isGrowing: true,
    first: undefined,
    last: undefined,
    document: -1,
    count: 0
  }
}

function note(candidate: Candidate, document: number, key: number | string): void {
  if (candidate.document !== document) {
    candidate.document = document
    candidate.count = 0
    candidate.documents++
  }
  if (candidate.count++ === 0) candidate.single++
  else if (candidate.count === 2) candidate.single--
  if (candidate.last !== undefined && isBelow(key, candidate.last)) candidate.isGrowing = false
  candidate.first ??= key
  candidate.last = key
  // More numbers than there are bins cost no more bits.
  if (candidate.isText || candidate.values.size < maxBins) candidate.values.add(key)
}

function isBelow(a: number | string, b: number | string): boolean {
  return typeof a === 'string' ? compareStrings(a, String(b)) < 0 : a < Number(b)
}

function isWorthIt({ single, documents, values, isText }: Candidate, sampled: number): boolean {
  if (single < sampled * minShare || single * 2 < documents || values.size < minDistinct) return false
  return !isText || values.size >= documents * minTextShare
}

function bytesPerDocument({ isGrowing, single, values }: Candidate, sampled: number): number {
  if (isGrowing) return 1 / 4
  return (bitsOfCodes(Math.min(values.size, maxBins)) / 8) * Math.min(1, (2 * single) / sampled)
}

function specOf({ spec, isText, isGrowing, values, first, last }: Candidate): ColumnSpec {
  if (!isText) return spec
  const common = isGrowing ? commonPrefix([String(first), String(last)]) : commonPrefix(values)
  return { ...spec, prefix: isGrowing ? common.slice(0, Math.max(0, common.length - prefixSlack)) : common }
}

/** ASCII only. */
function commonPrefix(texts: Iterable<number | string>): string {
  let prefix: string | undefined
  for (const text of texts) {
    const other = String(text)
    prefix ??= /^[\0-\x7f]*/.exec(other.slice(0, maxPrefix))![0]
    let length = 0
    while (length < prefix.length && prefix[length] === other[length]) length++
    prefix = prefix.slice(0, length)
  }
  return prefix ?? ''
}
