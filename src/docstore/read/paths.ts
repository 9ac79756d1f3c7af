/**
 * paths(): finds which paths the matches have, and with which types of values. A segment that knows every type on every
 * path of its documents counts them without reading, if it is certain of most of its matches; the matches of other
 * segments are read.
 *
 * Invariant: each match is counted once on a path, either by its segment or when it is read.
 */
import { and, type Pair, type PairExpression, pairOf, type TypePair } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import type { ReadOptions } from '../options.ts'
import { candidatesOfOrdinals, uncertainCandidates } from './candidates.ts'
import { Control } from './control.ts'
import type { Execution } from './execution.ts'
import {
  type CompiledFind,
  compileAndOpen,
  compileFind,
  matchesOf,
  readToEnd,
  resultWithoutCollection
} from './find.ts'
import { PathCounts, type PathSummary } from './path-counts.ts'
import { evaluateOn, forEachSegment, readAll, readSome } from './segment-reads.ts'
import type { Readable } from './sliced-cursor.ts'
import { forEachStep, type Waiting, wait } from './steps.ts'
import { canEvaluateSegments, evaluateCounts, readFirst, termsOf } from './value-reads.ts'

/** Something that a document may have on a path: any value, or a value of a type. */
type Fact = TypePair | Extract<Pair, { readonly kind: 'exists' }>

/** With more uncertain matches than this in a segment, all of its matches are read. */
const maxUncertain = 1024

/** @throws PetalError as find() */
export async function summarisePaths(
  readable: Readable,
  filter: unknown,
  options: ReadOptions
): Promise<PathSummary[]> {
  const [find, collection] = await compileAndOpen(readable, () => compileFind(filter, options))
  if (collection === undefined) return resultWithoutCollection(find, [])
  const counts = new PathCounts()
  await readToEnd(collection, find, new Control(options), (execution) => countPaths(execution, find, counts))
  return counts.toArray()
}

function* countPaths(execution: Execution, find: CompiledFind, counts: PathCounts): Waiting<void> {
  const { index } = execution.view
  if (index.types === undefined || !canEvaluateSegments(execution, find)) {
    yield* forEachStep(matchesOf(execution, find), (slice) => {
      for (const { document } of slice) counts.add(document)
    })
    return
  }
  const filter = find.filter.bounds
  const terms = termsOf(filter)
  yield* forEachSegment(execution, filter, function* (segment, matches) {
    const isMostlyCertain = matches.upperCount - matches.lowerCount <= maxUncertain
    const types = isMostlyCertain ? yield* wait(index.types?.(segment)) : undefined
    // Querying a type costs, per term, about as much as reading a document.
    if (types !== undefined && types.length * terms <= matches.lowerCount) {
      const ofSegment = new SegmentPaths(execution, segment, filter)
      if (yield* ofSegment.count(types, matches, counts)) return
    }
    const all = yield* evaluateOn(execution, segment, filter)
    yield* readAll(execution, all, ({ document }) => counts.add(document))
  })
}

/** The types that a segment may have on a path. */
interface PathFacts {
  readonly path: string
  readonly types: readonly TypePair[]
  /** Stands for any value on the path; if there is only one type, it is that type. */
  readonly any: Fact
}

class SegmentPaths {
  readonly #execution: Execution
  readonly #segment: number
  readonly #filter: PairExpression
  readonly #documents = new Map<Fact, number>()
  /**
   * Facts the segment is not certain of, by ordinal: of documents that may match, and of those with dotted keys, for
   * example.
   */
  readonly #uncertain = new Map<number, Fact[]>()

  constructor(execution: Execution, segment: number, filter: PairExpression) {
    this.#execution = execution
    this.#segment = segment
    this.#filter = filter
  }

  /** Returns false, with nothing counted, if all matches have to be read. REQUIRES: `types` is complete */
  *count(types: readonly TypePair[], matches: SegmentCandidates, counts: PathCounts): Waiting<boolean> {
    const paths = groupedByPath(types)
    for (const { types, any } of paths) {
      for (const fact of new Set([...types, any])) yield* this.#count(fact)
      if (this.#uncertain.size > maxUncertain) return false
    }
    yield* this.#readUncertain(matches, counts)
    for (const { path, types, any } of paths) {
      for (const pair of types) counts.addType(path, pair.type, this.#documentsWith(pair))
      counts.addDocuments(path, this.#documentsWith(any))
      yield* this.#findExample(types, counts)
    }
    return true
  }

  #documentsWith(fact: Fact): number {
    return this.#documents.get(fact) ?? 0
  }

  #evaluate(fact: Fact): Waiting<SegmentCandidates> {
    return evaluateCounts(this.#execution, this.#segment, and([this.#filter, pairOf(fact)]))
  }

  *#count(fact: Fact): Waiting<void> {
    const found = yield* this.#evaluate(fact)
    this.#documents.set(fact, found.lowerCount)
    if (found.lowerCount === found.upperCount) return
    const { count, ordinal } = uncertainCandidates(found)
    for (let i = 0; i < count; i++) {
      const facts = this.#uncertain.get(ordinal(i))
      if (facts === undefined) this.#uncertain.set(ordinal(i), [fact])
      else facts.push(fact)
    }
  }

  *#readUncertain(matches: SegmentCandidates, counts: PathCounts): Waiting<void> {
    const ordinals = [...this.#uncertain.keys()].sort((a, b) => a - b)
    yield* readSome(this.#execution, candidatesOfOrdinals(ordinals), matches, ({ document, ordinal }) => {
      counts.examine(document)
      for (const fact of this.#uncertain.get(ordinal) ?? []) {
        const isThere = counts.hasSeen(fact.path, fact.kind === 'type' ? fact.type : undefined)
        if (isThere) this.#documents.set(fact, this.#documentsWith(fact) + 1)
      }
    })
  }

  /** Finds an example of the most frequent type. */
  *#findExample(types: readonly TypePair[], counts: PathCounts): Waiting<void> {
    let best: TypePair | undefined
    let most = -1
    for (const pair of types) {
      if (!counts.wantsExample(pair.path, pair.type)) continue
      const weight = pair.type === Type.null ? 0 : this.#documentsWith(pair)
      if (weight <= most) continue
      best = pair
      most = weight
    }
    if (best === undefined) return
    const found = yield* this.#evaluate(best)
    if (found.lowerCount > 0) yield* readFirst(this.#execution, found, ({ document }) => counts.examine(document))
  }
}

function groupedByPath(types: readonly TypePair[]): PathFacts[] {
  const byPath = new Map<string, TypePair[]>()
  for (const pair of types) {
    const pairs = byPath.get(pair.path)
    if (pairs === undefined) byPath.set(pair.path, [pair])
    else pairs.push(pair)
  }
  return Array.from(byPath, ([path, pairs]) => ({
    path,
    types: pairs,
    any: pairs.length === 1 ? pairs[0]! : { kind: 'exists', path }
  }))
}
