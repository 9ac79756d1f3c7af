/**
 * Which paths the matches of a filter have, and which types of values on them. A segment of the index that knows every type on
 * every path of its documents counts them, where it is certain of its matches; those of others are read.
 *
 * Invariant: each match is counted once on a path, by its segment or when it is read.
 */
import { and, type Pair, type PairExpression, pairOf, type TypePair } from '../../model/pairs.ts'
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import { fromStore } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { ReadOptions } from '../options.ts'
import { uncertain } from './candidates.ts'
import { Control } from './control.ts'
import type { Execution } from './execution.ts'
import { beginFind, type CompiledFind, compileFind, matchesOf } from './find.ts'
import { Meter } from './meter.ts'
import { PathCounts, type PathSummary } from './path-counts.ts'
import { advance, forEachStep, type Waiting, wait } from './steps.ts'
import { ask, askCounts, forEachSegment, isAskedOfSegments, readAll, readFirst, readSome } from './value-reads.ts'

type ExistsPair = Extract<Pair, { readonly kind: 'exists' }>

/** More documents of a segment that it is not certain of are read all together, with the others. */
const mostUncertain = 1024

/** @throws PetalError as find() */
export async function pathsFound(
  collection: OpenCollection | undefined,
  filter: unknown,
  options: ReadOptions
): Promise<PathSummary[]> {
  const find = compileFind(filter, options)
  if (collection === undefined) return []
  const execution = beginFind(collection, find, new Control(options), new Meter())
  try {
    const counts = new PathCounts()
    await advance(countPaths(execution, find, counts))
    collection.autoRebuild?.noteRead(find, execution.meter)
    return counts.toArray()
  } catch (error) {
    throw fromStore(error)
  } finally {
    execution.view.close()
  }
}

function* countPaths(execution: Execution, find: CompiledFind, counts: PathCounts): Waiting<void> {
  const { index } = execution.view
  if (index.types === undefined || !isAskedOfSegments(execution, find)) {
    yield* forEachStep(matchesOf(execution, find), (slice) => {
      for (const { document } of slice) counts.add(document)
    })
    return
  }
  const filter = find.filter.bounds
  yield* forEachSegment(execution, filter, function* (segment, matches) {
    const isCertain = matches.lowerCount === matches.upperCount
    const types = isCertain ? yield* wait(index.types?.(segment)) : undefined
    // To ask for a type takes about what a document takes.
    if (types !== undefined && types.length <= matches.upperCount) {
      const ofSegment = new SegmentPaths(execution, segment, filter, counts)
      if (yield* ofSegment.count(types)) return
    }
    const all = yield* ask(execution, segment, filter)
    yield* readAll(execution, all, ({ document }) => counts.add(document))
  })
}

/** Counts of one segment: they count when all of them are known. */
class SegmentPaths {
  readonly #execution: Execution
  readonly #segment: number
  readonly #filter: PairExpression
  readonly #counts: PathCounts
  #uncertain = 0

  constructor(execution: Execution, segment: number, filter: PairExpression, counts: PathCounts) {
    this.#execution = execution
    this.#segment = segment
    this.#filter = filter
    this.#counts = counts
  }

  /** False when the segment is to be read. REQUIRES: it is certain of its matches, and these are all of its types */
  *count(types: readonly TypePair[]): Waiting<boolean> {
    const typed: { readonly pair: TypePair; readonly documents: number }[] = []
    /** Of the only type on a path, or of the path. */
    const present = new Map<string, number>()
    for (const pair of types) {
      const documents = yield* this.#documentsWith(pair)
      if (documents === undefined) return false
      typed.push({ pair, documents })
      const { path } = pair
      if (!present.has(path)) {
        present.set(path, documents)
        continue
      }
      const withAny = yield* this.#documentsWith({ kind: 'exists', path })
      if (withAny === undefined) return false
      present.set(path, withAny)
    }
    for (const { pair, documents } of typed) this.#counts.addType(pair.path, pair.type, documents)
    for (const [path, documents] of present) this.#counts.addDocuments(path, documents)
    return true
  }

  /** How many matches have a type on a path, or anything; undefined when too many would have to be read for that. */
  *#documentsWith(pair: TypePair | ExistsPair): Waiting<number | undefined> {
    const found = yield* askCounts(this.#execution, this.#segment, and([this.#filter, pairOf(pair)]))
    if (found.lowerCount > 0 && pair.kind === 'type' && this.#counts.wantsExample(pair.path, pair.type)) {
      yield* readFirst(this.#execution, found, ({ document }) => this.#counts.learn(document))
    }
    this.#uncertain += found.upperCount - found.lowerCount
    if (this.#uncertain > mostUncertain) return undefined
    return found.lowerCount + (yield* this.#confirmed(found, pair))
  }

  /** Documents of which the segment does not know whether pairs of theirs mean what they say: keys with dots, for one. */
  *#confirmed(found: SegmentCandidates, pair: TypePair | ExistsPair): Waiting<number> {
    if (found.lowerCount === found.upperCount) return 0
    let documents = 0
    yield* readSome(this.#execution, uncertain(found), found, ({ document }) => {
      const types = this.#counts.learn(document).get(pair.path)
      if (pair.kind === 'type' ? types?.has(pair.type) : types !== undefined) documents++
    })
    return documents
  }
}
