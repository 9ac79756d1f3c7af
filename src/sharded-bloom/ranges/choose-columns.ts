/**
 * Pure policy: chooses the values of the next segment's documents to keep as columns, from a sample of the last
 * segment's.
 *
 * A column is worth its bytes if documents have one value each and there are many distinct values. A column whose
 * values grow with the ordinal costs a quarter of a byte per document and is the most selective: it is always chosen.
 * Text columns are chosen if they grow, or nearly, and if they were chosen before: once documents of all ages are
 * replaced, no timestamp grows any more, and without its column a time range had every document of the segment as a
 * candidate.
 */
import { compareStrings } from '../../model/compare.ts'
import { isRangeType } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import { bitsOfCodes, maxBins } from './bins.ts'
import { chooseTextForm } from './choose-text-form.ts'
import { type ColumnSpec, maxColumns } from './column-spec.ts'

/**
 * `'numbers'`: numbers and dates. `'all'`: strings, too. `'auto'`: numbers, dates, and strings that grow with the
 * ordinal, or nearly, such as ISO dates. `'none'`: only types bound a range.
 */
export type RangeCodes = 'auto' | 'numbers' | 'all' | 'none'

/** The values of sampled documents, each as a number, and the meaning of the numbers. */
export interface ColumnSample {
  /** Number of documents, in ordinal order. */
  readonly size: number
  /** The numbers of the documents' values, document after document; each is listed once per document. */
  readonly members: Int32Array
  /** Index of a document's first number, which is the end of the previous document's. */
  startOf(document: number): number
  readonly values: ColumnValues
}

export interface ColumnValues {
  /** The same for equal path and tag, different for others. */
  pathAndTag(number: number): number
  path(number: number): string
  tag(number: number): number
  key(number: number): number | string
}

/** Approximate number of documents to examine, spread over the sample so that growth shows. */
const columnSampleDocuments = 512
/** Minimum share of sampled documents that have the value. */
const minShare = 1 / 64
const minDistinct = 4
const documentsPerStep = 16
/**
 * Texts with fewer distinct values, as a share of their documents, are names and labels, which nobody queries by range.
 */
const minTextShare = 1 / 8
/**
 * Values nearly grow when few are below the one that precedes them by this share of the sample: neighbours may be out
 * of order.
 */
const lagShare = 1 / 16
/** Maximum number of descents per ascent, and how many more are allowed while few values were examined. */
const maxDescentsPerAscent = 1 / 4
const firstDescents = 2
/** Bytes per document. */
const numberBudget = 12
const textBudget = 15

/**
 * Runs in steps of less than a millisecond.
 * @param earlier the columns of the previous segment
 */
export function* columnSteps(
  sample: ColumnSample,
  choice: RangeCodes,
  earlier: readonly ColumnSpec[] = []
): Generator<void, ColumnSpec[]> {
  if (choice === 'none') return []
  const { candidates: all, sampled } = yield* candidatesOf(sample, choice, earlier)
  const candidates = all.filter(
    (candidate) => isWorthIt(candidate, sampled) && (candidate.isWanted || isNearlyGrowing(candidate))
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
  /** Wanted whether its values grow or not. */
  readonly isWanted: boolean
  readonly values: Set<number | string>
  /** Documents with at least one, and with exactly one, value. */
  documents: number
  single: number
  /** No value is below the one before it. */
  isGrowing: boolean
  /** Number of values above, and below, the one `lag` values earlier. */
  ascents: number
  descents: number
  /** In document order. Numbers and texts are separate because a field of both kinds is slow. */
  readonly numbers: number[]
  readonly texts: string[]
  /** The document being examined, and its number of values so far. */
  document: number
  count: number
}

/** In the order in which paths and types are first met. */
function* candidatesOf(
  sample: ColumnSample,
  choice: RangeCodes,
  earlier: readonly ColumnSpec[]
): Generator<void, { readonly candidates: Candidate[]; readonly sampled: number }> {
  const stride = Math.max(1, Math.floor(sample.size / columnSampleDocuments))
  const lag = Math.max(1, Math.floor((sample.size / stride) * lagShare))
  const candidates = new Candidates(sample.values, choice, earlier, lag)
  let sampled = 0
  for (let document = 0; document < sample.size; document += stride) {
    candidates.note(sample.members, sample.startOf(document), sample.startOf(document + 1), sampled)
    if (++sampled % documentsPerStep === 0) yield
  }
  return { candidates: candidates.all, sampled }
}

class Candidates {
  readonly all: Candidate[] = []
  /** By path and tag; null if the values need not be examined any further. */
  readonly #byPathAndTag = new Map<number, Candidate | null>()
  readonly #values: ColumnValues
  readonly #choice: RangeCodes
  readonly #earlierTexts: ReadonlySet<string>
  readonly #lag: number

  constructor(values: ColumnValues, choice: RangeCodes, earlier: readonly ColumnSpec[], lag: number) {
    this.#values = values
    this.#choice = choice
    this.#lag = lag
    this.#earlierTexts = new Set(earlier.filter(({ type }) => type === Type.string).map(({ path }) => path))
  }

  /** Examines a document's values. */
  note(members: Int32Array, from: number, to: number, document: number): void {
    for (let at = from; at < to; at++) {
      const candidate = this.#byPathAndTag.get(this.#values.pathAndTag(members[at]!))
      if (candidate !== null) this.#noteValue(candidate ?? this.#add(members[at]!), members[at]!, document)
    }
  }

  #noteValue(candidate: Candidate | null, number: number, document: number): void {
    if (candidate === null) return
    countValue(candidate, document)
    const key = this.#values.key(number)
    if (typeof key === 'number') noteNumber(candidate, key, this.#lag)
    else noteText(candidate, key, this.#lag)
    // Most texts are names and prose, and ruled out after a few documents.
    if (!candidate.isWanted && candidate.descents > firstDescents + candidate.ascents * maxDescentsPerAscent)
      this.#byPathAndTag.set(this.#values.pathAndTag(number), null)
  }

  #add(number: number): Candidate | null {
    const candidate = this.#candidateOf(number)
    this.#byPathAndTag.set(this.#values.pathAndTag(number), candidate)
    if (candidate !== null) this.all.push(candidate)
    return candidate
  }

  #candidateOf(number: number): Candidate | null {
    const type = this.#values.tag(number)
    if (!isRangeType(type) || (type === Type.string && this.#choice === 'numbers')) return null
    const path = this.#values.path(number)
    const isWanted = type !== Type.string || this.#choice === 'all' || this.#earlierTexts.has(path)
    return newCandidate({ path, type, prefix: '', template: '' }, isWanted)
  }
}

function newCandidate(spec: ColumnSpec, isWanted: boolean): Candidate {
  return {
    spec,
    isText: spec.type === Type.string,
    isWanted,
    values: new Set(),
    documents: 0,
    single: 0,
    isGrowing: true,
    ascents: 0,
    descents: 0,
    numbers: [],
    texts: [],
    document: -1,
    count: 0
  }
}

function countValue(candidate: Candidate, document: number): void {
  if (candidate.document !== document) {
    candidate.document = document
    candidate.count = 0
    candidate.documents++
  }
  if (candidate.count++ === 0) candidate.single++
  else if (candidate.count === 2) candidate.single--
}

function noteNumber(candidate: Candidate, key: number, lag: number): void {
  const { numbers, values } = candidate
  const count = numbers.length
  if (count > 0 && key < numbers[count - 1]!) candidate.isGrowing = false
  if (count >= lag) noteOrder(candidate, key - numbers[count - lag]!)
  numbers.push(key)
  // Numbers beyond the number of bins cost no more bits.
  if (values.size < maxBins) values.add(key)
}

function noteText(candidate: Candidate, key: string, lag: number): void {
  const { texts, values } = candidate
  const count = texts.length
  if (count > 0 && compareStrings(key, texts[count - 1]!) < 0) candidate.isGrowing = false
  if (count >= lag) noteOrder(candidate, compareStrings(key, texts[count - lag]!))
  texts.push(key)
  values.add(key)
}

function noteOrder(candidate: Candidate, order: number): void {
  if (order > 0) candidate.ascents++
  else if (order < 0) candidate.descents++
}

function isWorthIt({ single, documents, values, isText }: Candidate, sampled: number): boolean {
  if (single < sampled * minShare || single * 2 < documents || values.size < minDistinct) return false
  return !isText || values.size >= documents * minTextShare
}

function isNearlyGrowing({ isGrowing, ascents, descents }: Candidate): boolean {
  return isGrowing || (ascents > 0 && descents <= ascents * maxDescentsPerAscent)
}

/** When sealed, a nearly growing column may turn out to need codes after all, at up to a byte per document. */
function bytesPerDocument(candidate: Candidate, sampled: number): number {
  if (candidate.isGrowing) return 1 / 4
  if (isNearlyGrowing(candidate)) return 1 / 2
  const { single, values } = candidate
  return (bitsOfCodes(Math.min(values.size, maxBins)) / 8) * Math.min(1, (2 * single) / sampled)
}

function specOf(candidate: Candidate): ColumnSpec {
  const { spec, isText, isGrowing, texts } = candidate
  return isText ? { ...spec, ...chooseTextForm(texts, isGrowing, isNearlyGrowing(candidate)) } : spec
}
