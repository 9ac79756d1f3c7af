/** Compiled stages: what each does to documents, and whether it has to see all of them first. */
import type { Document } from '../model/types.ts'
import type { Filter } from '../query/ast.ts'
import type { CompiledFilter } from '../query/filter.ts'
import type { StagePlace } from './errors.ts'
import type { Expression } from './expression-compile.ts'

/** Takes all documents before it outputs one. */
export interface Collector {
  add(document: Document): void
  /** Yields documents, and undefined wherever the work may be paused. */
  results(): Iterable<Document | undefined>
}

/** A collector that can be given its documents in parts, each collected by another. */
export interface PartialCollector extends Collector {
  /** Whether this one can. */
  readonly canDivide: boolean
  /** Number of results so far. */
  readonly size: number
  /** Returns what was collected, as data. REQUIRES: canDivide */
  partial(): unknown
  /** Adds what another of the same stage has collected, from documents that come next. REQUIRES: canDivide */
  merge(partial: unknown): void
}

/** A nested pipeline over another collection. */
export interface ForeignPipeline {
  /** undefined if the pipeline reads no collection. */
  readonly collection: string | undefined
  readonly pipeline: Pipeline
}

export interface Lookup {
  readonly as: readonly string[]
  readonly join: Join
  /** Computed for each document, for use in the stages or the pipeline. */
  readonly variables: readonly { readonly name: string; readonly value: Expression }[]
}

export type Join =
  /** The documents with equal values, processed by the stages. */
  | {
      readonly kind: 'equality'
      readonly collection: string
      readonly localField: string
      readonly foreignField: string
      readonly stages: readonly Stage[]
    }
  /** The results of a pipeline. */
  | {
      readonly kind: 'pipeline'
      readonly from: ForeignPipeline
      /** The results are the same for every document: the pipeline uses no variables, and is deterministic. */
      readonly isShared: boolean
    }

/** A search from document to document in another collection, by equal values. */
export interface GraphSearch {
  readonly collection: string
  /** The start values, computed for each document. */
  readonly start: Expression
  /** Path of the values that lead from a document to further ones. */
  readonly from: string
  /** Path of the values by which documents are found. */
  readonly to: string
  readonly as: readonly string[]
  /** Infinity for no limit. */
  readonly maxDepth: number
  /** Path where each document found gets its depth, if requested. */
  readonly depth: readonly string[] | undefined
  /** Compiles a filter combined with the search's restriction. */
  readonly narrowed: (filter: Filter) => CompiledFilter
}

/** A compiled stage. State between documents is created for each run. */
export type Stage = { readonly place: StagePlace } & (
  | { readonly kind: 'each'; readonly apply: (document: Document) => Document | undefined }
  /** Documents are made one by one, as they are asked for: arrays may be long. */
  | { readonly kind: 'expand'; readonly apply: (document: Document) => Iterable<Document> }
  | { readonly kind: 'skip'; readonly count: number }
  | { readonly kind: 'limit'; readonly count: number }
  | { readonly kind: 'collect'; readonly begin: () => Collector }
  | { readonly kind: 'facet'; readonly facets: readonly { readonly name: string; readonly stages: readonly Stage[] }[] }
  | { readonly kind: 'lookup'; readonly lookup: Lookup }
  | { readonly kind: 'graphLookup'; readonly search: GraphSearch }
  | { readonly kind: 'union'; readonly from: ForeignPipeline }
  /** Comes first, and has no input. */
  | { readonly kind: 'documents'; readonly make: () => readonly Document[] }
)

/** Grouping by the value of a path, with counts only. */
export interface TallyRead {
  readonly place: StagePlace
  /** Components of the path. */
  readonly path: readonly string[]
  /** Creates the output document of a group. */
  readonly document: (id: unknown, count: number) => Document
}

/** Takes a random sample of the matches in their place. */
export interface SampleRead {
  readonly size: number
  /** For a sample of matches that are all read. */
  readonly begin: () => Collector
}

/** The leading stages, merged into one read. */
export interface LeadingRead {
  /** As written by the caller, for explain(); undefined for all documents. */
  readonly filter: unknown
  readonly compiledFilter: CompiledFilter | undefined
  /** The filter narrowed by what its `$expr` implies for the current variables; undefined if they imply nothing. */
  readonly narrowed: (() => CompiledFilter | undefined) | undefined
  readonly sort: unknown
  readonly skip: number
  /** Infinity for no limit. */
  readonly limit: number
  readonly projection: Readonly<Document> | undefined
  /** Returns a single document with the number of matches in their place; not called for 0. */
  readonly count: ((count: number) => Document) | undefined
  /** Counts matches by the value of a path in their place. */
  readonly tally: TallyRead | undefined
  readonly sample: SampleRead | undefined
  /** The paths of matches that the read and the stages after it look at; undefined: all. */
  readonly used: ReadonlySet<string> | undefined
  /** Places of the stages merged into the read. */
  readonly places: readonly StagePlace[]
}

/** A read whose filter has not been compiled. */
export type UncompiledRead = Omit<LeadingRead, 'compiledFilter' | 'narrowed'>

export interface Merge {
  /** Paths by which documents are matched. */
  readonly on: readonly string[]
  /**
   * Returns a document's values of these paths; undefined if it will get a new `_id`.
   * @throws PetalError BadValue for values that can match no document, or several
   */
  readonly valuesOn: (document: Document) => readonly unknown[] | undefined
  readonly whenMatched: WhenMatched
  readonly whenNotMatched: 'insert' | 'discard' | 'fail'
}

/** What to do with a matching document. */
export type WhenMatched =
  | { readonly kind: 'keep' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'replace' | 'update'; readonly change: (target: Document, document: Document) => Document }

/** Writes the results of a pipeline instead of returning them. */
export type WriteStage = { readonly place: StagePlace; readonly collection: string } & (
  | {
      /** Replaces the contents of the collection. */
      readonly kind: 'out'
    }
  | { readonly kind: 'merge'; readonly merge: Merge }
)

export interface Pipeline {
  /** undefined if the first stage generates its own documents. */
  readonly read: LeadingRead | undefined
  readonly stages: readonly Stage[]
  /** The last stage, if it writes; never in a nested pipeline. */
  readonly write: WriteStage | undefined
  /** The first stages, if parts of the documents can go through them separately. */
  readonly divisible: DivisibleStages | undefined
}

/** Stages that each take one document at a time, and then a PartialCollector. */
export interface DivisibleStages {
  /** Place of the collector among the compiled stages. */
  readonly collector: number
  /** The pipeline up to there, and what limits a sort, as the caller wrote it. */
  readonly pipeline: readonly Document[]
}

/** Returns the other collections that a pipeline reads, including those of nested pipelines. */
export function foreignCollections({ stages }: Pick<Pipeline, 'stages'>): readonly string[] {
  const names = stages.flatMap((stage): readonly string[] => {
    switch (stage.kind) {
      case 'facet':
        return stage.facets.flatMap(foreignCollections)
      case 'union':
        return collectionsOf(stage.from)
      case 'graphLookup':
        return [stage.search.collection]
      case 'lookup': {
        const { join } = stage.lookup
        return join.kind === 'pipeline' ? collectionsOf(join.from) : [join.collection, ...foreignCollections(join)]
      }
      default:
        return []
    }
  })
  return [...new Set(names)]
}

function collectionsOf({ collection, pipeline }: ForeignPipeline): readonly string[] {
  const inside = foreignCollections(pipeline)
  return collection === undefined ? inside : [collection, ...inside]
}
