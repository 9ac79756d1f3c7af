/**
 * Stages as they run: what each makes of documents, and whether it has to see all of them first.
 */
import type { Document } from '../model/types.ts'
import type { Filter } from '../query/ast.ts'
import type { CompiledFilter } from '../query/filter.ts'
import type { StagePlace } from './errors.ts'
import type { Expression } from './expression-compile.ts'

/** Takes all documents before it gives one. */
export interface Collector {
  add(document: Document): void
  /** Documents, and undefined wherever it may be interrupted. */
  results(): Iterable<Document | undefined>
}

/** A pipeline of its own, over another collection. */
export interface ForeignPipeline {
  /** May be undefined where the pipeline reads none. */
  readonly collection: string | undefined
  readonly pipeline: Pipeline
}

export interface Lookup {
  readonly as: readonly string[]
  readonly join: Join
  /** Computed for each document, for the stages or the pipeline. */
  readonly variables: readonly { readonly name: string; readonly value: Expression }[]
}

export type Join =
  /** The documents whose values are equal, and what the stages make of them. */
  | {
      readonly kind: 'equality'
      readonly collection: string
      readonly localField: string
      readonly foreignField: string
      readonly stages: readonly Stage[]
    }
  /** What a pipeline gives. */
  | {
      readonly kind: 'pipeline'
      readonly from: ForeignPipeline
      /** It gives each document the same: it knows nothing of them, and leaves nothing to chance. */
      readonly isShared: boolean
    }

/** A search from document to document of another collection, by equal values. */
export interface GraphSearch {
  readonly collection: string
  /** The values it begins with, computed for each document. */
  readonly start: Expression
  /** Path of the values that lead on from a document that was found. */
  readonly from: string
  /** Path of the values by which documents are found. */
  readonly to: string
  readonly as: readonly string[]
  /** Infinity for no end. */
  readonly maxDepth: number
  /** Where each document that was found is told how many steps it took. */
  readonly depth: readonly string[] | undefined
  /** Compiles a filter, with what all documents of the search must match. */
  readonly narrowed: (filter: Filter) => CompiledFilter
}

/** A stage, compiled. What keeps count between documents is made for each run. */
export type Stage = { readonly place: StagePlace } & (
  | { readonly kind: 'each'; readonly apply: (document: Document) => Document | undefined }
  | { readonly kind: 'expand'; readonly apply: (document: Document) => readonly Document[] }
  | { readonly kind: 'skip'; readonly count: number }
  | { readonly kind: 'limit'; readonly count: number }
  | { readonly kind: 'collect'; readonly begin: () => Collector }
  | { readonly kind: 'facet'; readonly facets: readonly { readonly name: string; readonly stages: readonly Stage[] }[] }
  | { readonly kind: 'lookup'; readonly lookup: Lookup }
  | { readonly kind: 'graphLookup'; readonly search: GraphSearch }
  | { readonly kind: 'union'; readonly from: ForeignPipeline }
  /** Comes first, and takes nothing. */
  | { readonly kind: 'documents'; readonly make: () => readonly Document[] }
)

/** Groups by the value on a path that are only counted. */
export interface TallyRead {
  readonly place: StagePlace
  /** Components of the path. */
  readonly path: readonly string[]
  /** Makes the document of a group. */
  readonly document: (id: unknown, count: number) => Document
}

/** The leading stages, as one read. */
export interface LeadingRead {
  /** As it was spelled, for explain(); undefined for all documents. */
  readonly filter: unknown
  readonly compiledFilter: CompiledFilter | undefined
  /** The filter, narrowed by what its `$expr` implies by variables as they are now; undefined when they imply nothing. */
  readonly narrowed: (() => CompiledFilter | undefined) | undefined
  readonly sort: unknown
  readonly skip: number
  /** Infinity for no limit. */
  readonly limit: number
  readonly projection: Readonly<Document> | undefined
  /** Makes one document of the number of matches instead, or none of 0. */
  readonly count: ((count: number) => Document) | undefined
  /** Makes a document of each group of matches that have one value on a path instead. */
  readonly tally: TallyRead | undefined
  /** Places of the stages it stands for. */
  readonly places: readonly StagePlace[]
}

/** A read before its filter is compiled. */
export type SpelledRead = Omit<LeadingRead, 'compiledFilter' | 'narrowed'>

export interface Merge {
  /** Paths by which a document is told to be the same. */
  readonly on: readonly string[]
  /**
   * What a document has on them; undefined where it will get an `_id` of its own.
   * @throws PetalError BadValue for what can match no document, or several
   */
  readonly valuesOn: (document: Document) => readonly unknown[] | undefined
  readonly whenMatched: WhenMatched
  readonly whenNotMatched: 'insert' | 'discard' | 'fail'
}

/** What becomes of a document that is there already. */
export type WhenMatched =
  | { readonly kind: 'keep' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'replace' | 'update'; readonly change: (target: Document, document: Document) => Document }

/** What becomes of the documents that a pipeline gives, instead of their being handed out. */
export type WriteStage = { readonly place: StagePlace; readonly collection: string } & (
  | {
      /** They take the place of all that the collection holds. */
      readonly kind: 'out'
    }
  | { readonly kind: 'merge'; readonly merge: Merge }
)

export interface Pipeline {
  /** undefined where the first stage makes documents of its own. */
  readonly read: LeadingRead | undefined
  readonly stages: readonly Stage[]
  /** The last stage, where it writes; never of a pipeline inside of a stage. */
  readonly write: WriteStage | undefined
}

/** The other collections that a pipeline reads, those of the pipelines inside of it among them. */
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
