/**
 * Pure policy: which values of the next segment's documents are kept as columns, from a sample of the last one's.
 *
 * A column is worth its bytes where documents have one value each and values are many. One whose values grow with the
 * ordinal costs a quarter of a byte per document and answers best, and is always taken.
 */
import { compareStrings } from '../../model/compare.ts'
import { runSteps } from '../../model/time-slice.ts'
import { Type } from '../../model/types.ts'
import { bitsOfCodes, maxBins } from './bins.ts'
import { type ColumnSpec, isRangeType, maxColumns, maxPrefix, rangeTypes } from './column-spec.ts'

/**
 * `'numbers'`: numbers and dates. `'all'`: strings, too. `'auto'`: numbers, dates, and strings that grow with the ordinal,
 * such as ISO dates. `'none'`: ranges are bounded by types alone.
 */
export type RangeCodes = 'auto' | 'numbers' | 'all' | 'none'

/** A sampled document's values: at most one object of each pair. */
export interface SampledValue {
  readonly path: string
  readonly tag: number
  readonly key: number | string
}

/** Documents that are looked at, about: spread over all, so that growing texts show what grows. */
export const columnSampleDocuments = 512
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

/** @param sample documents in the order of ordinals */
export function chooseColumns(sample: readonly (readonly SampledValue[])[], choice: RangeCodes): ColumnSpec[] {
  return runSteps(columnSteps(sample, choice))
}

/** As chooseColumns(), in steps of less than a millisecond. */
export function* columnSteps(
  sample: Iterable<readonly SampledValue[]>,
  choice: RangeCodes
): Generator<void, ColumnSpec[]> {
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
  sample: Iterable<readonly SampledValue[]>,
  choice: RangeCodes
): Generator<void, { readonly candidates: Candidate[]; readonly sampled: number }> {
  const candidates: Candidate[] = []
  const byPathOfType = rangeTypes.map(() => new Map<string, Candidate>())
  let document = 0
  for (const values of sample) {
    for (const { path, tag, key } of values) {
      if (!isRangeType(tag) || (tag === Type.string && choice === 'numbers')) continue
      const byPath = byPathOfType[rangeTypes.indexOf(tag)]!
      let candidate = byPath.get(path)
      if (candidate === undefined) {
        candidate = newCandidate({ path, type: tag, prefix: '' })
        byPath.set(path, candidate)
        candidates.push(candidate)
      }
      // Of texts most are names and prose, and out of the question after a few documents.
      if (candidate.isText && !candidate.isGrowing && choice === 'auto') continue
      note(candidate, document, key)
    }
    if (++document % documentsPerStep === 0) yield
  }
  return { candidates, sampled: document }
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
