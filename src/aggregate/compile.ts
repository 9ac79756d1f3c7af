/** Compiles pipelines: the leading read, and a stage for each of the rest. */
import type { Document } from '../model/types.ts'
import { allOf } from '../query/ast.ts'
import { type CompiledFilter, normalForm } from '../query/filter.ts'
import { type CompiledSort, compileSort } from '../query/sort.ts'
import { countField, fieldName, objectOf, sampleSize, wholeNumber } from './arguments.ts'
import { compileBucket } from './bucket.ts'
import { AutoBuckets, compileBucketAuto } from './bucket-auto.ts'
import { assertStagesSupportCollation } from './collation-support.ts'
import { Counter, Sample, Sorter } from './collectors.ts'
import { compileDensify, Densified } from './densify.ts'
import { divisibleStages } from './divide.ts'
import { compileDocuments } from './documents.ts'
import { type StagePlace, stageError, withStage } from './errors.ts'
import type { Expressions } from './expression.ts'
import { compileFill } from './fill.ts'
import { compileLookup, compileUnion, type InnerPipelines } from './foreign.ts'
import { compileGraphLookup } from './graph-lookup.ts'
import { compileCounts, compileGroup, Groups } from './group.ts'
import { splitLeading } from './leading.ts'
import { compileMatch, compileNarrowing } from './match.ts'
import { compileMerge } from './merge.ts'
import { type ParsedStage, parsePipeline } from './parse.ts'
import { compileRedact, compileReshape, projection, unsetProjection } from './reshape.ts'
import type { Collector, LeadingRead, Pipeline, Stage, UncompiledRead, WriteStage } from './stage.ts'
import { targetOf } from './target.ts'
import { compileUnwind } from './unwind.ts'

/**
 * Compiles a pipeline over a collection. The pipeline is copied, so later changes to it have no effect.
 * @throws PetalError naming the stage and its position
 */
export function compilePipeline(pipeline: unknown, expressions: Expressions, within?: string): Pipeline {
  const parsed = parsePipeline(pipeline, { within })
  if (expressions.order !== undefined) assertStagesSupportCollation(parsed)
  const write = compileWrite(parsed[parsed.length - 1], expressions)
  const reading = write === undefined ? parsed : parsed.slice(0, -1)
  if (reading[0]?.place.stage === '$documents') {
    return { read: undefined, stages: compileStages(reading, expressions), write, divisible: undefined }
  }
  const { read, rest } = splitLeading(reading)
  for (const stage of reading.slice(0, reading.length - rest.length)) checkLeading(stage, expressions)
  const compiled = { read: compileRead(read, expressions), stages: compileStages(rest, expressions) }
  return { ...compiled, write, divisible: divisibleStages(compiled.read, reading, compiled.stages) }
}

/** Returns undefined for a stage that does not write. */
function compileWrite(last: ParsedStage | undefined, expressions: Expressions): WriteStage | undefined {
  if (last === undefined) return undefined
  const { place, spec } = last
  if (place.stage === '$out') return { place, kind: 'out', collection: targetOf(spec, place) }
  return place.stage === '$merge' ? { place, kind: 'merge', ...compileMerge(spec, place, expressions) } : undefined
}

/** Compiles the filter, in the scope of the current variables. */
function compileRead(read: UncompiledRead, expressions: Expressions): LeadingRead {
  const [place = { stage: '$match', position: 0 }] = read.places
  return {
    ...read,
    ...compileFilters(read.filter, place, expressions)
  }
}

function compileFilters(
  filter: unknown,
  place: StagePlace,
  expressions: Expressions
): Pick<LeadingRead, 'compiledFilter' | 'narrowed'> {
  if (filter === undefined) return { compiledFilter: undefined, narrowed: undefined }
  const implied = expressions.impliedBy(filter, place)
  if (implied === undefined) return { compiledFilter: compileMatch(filter, place, expressions), narrowed: undefined }
  const narrow = compileNarrowing(filter, place, expressions)
  const narrowed = (): CompiledFilter | undefined => {
    const condition = implied()
    return condition === undefined ? undefined : narrow(normalForm(condition))
  }
  return { compiledFilter: narrow(allOf([])), narrowed }
}

/**
 * Checks a stage that is merged into the read. The read is compiled as a whole; errors are reported here, with their
 * stage.
 */
function checkLeading({ place, spec }: ParsedStage, expressions: Expressions): void {
  if (place.stage === '$match') compileMatch(spec, place, expressions)
  if (place.stage === '$sort') withStage(place, () => compileSort(spec, expressions.order))
  if (place.stage === '$project') projection(spec as Document, place)
  if (place.stage === '$unset') projection(unsetProjection(spec, place), place)
}

const inner: InnerPipelines = {
  overCollection: compilePipeline,
  overDocuments: (pipeline, expressions, within) =>
    compileStages(parsePipeline(pipeline, { within, isOverDocuments: true }), expressions)
}

function compileStages(parsed: readonly ParsedStage[], expressions: Expressions): readonly Stage[] {
  return parsed.flatMap((stage, i) => compileStage(stage, parsed.slice(i + 1), expressions))
}

function compileStage(
  stage: ParsedStage,
  next: readonly ParsedStage[],
  expressions: Expressions
): Stage | readonly Stage[] {
  const { place, spec } = stage
  const reshape = compileReshape(stage, expressions)
  if (reshape !== undefined) return { place, kind: 'each', apply: reshape }
  switch (place.stage) {
    case '$documents':
      return { place, kind: 'documents', make: compileDocuments(spec, place, expressions) }
    case '$match': {
      const { matches } = compileMatch(spec, place, expressions)
      return { place, kind: 'each', apply: (document) => (matches(document) ? document : undefined) }
    }
    case '$redact':
      return { place, kind: 'each', apply: compileRedact(spec, place, expressions) }
    case '$unwind':
      return { place, kind: 'expand', apply: compileUnwind(spec, place) }
    case '$skip':
      return { place, kind: 'skip', count: wholeNumber(spec, place, 0) }
    case '$limit':
      return { place, kind: 'limit', count: wholeNumber(spec, place, 1) }
    case '$sort': {
      const sort = compileStageSort(spec, place, expressions)
      const wanted = firstWanted(next)
      return { place, kind: 'collect', begin: () => new Sorter(sort, wanted) }
    }
    case '$count': {
      const field = countField(spec, place)
      return { place, kind: 'collect', begin: () => new Counter(field) }
    }
    case '$sample': {
      const size = sampleSize(spec, place)
      return { place, kind: 'collect', begin: () => new Sample(size, place) }
    }
    case '$group': {
      const grouping = compileGroup(spec, place, expressions)
      return { place, kind: 'collect', begin: () => new Groups(grouping) }
    }
    case '$bucket': {
      const grouping = compileBucket(spec, place, expressions)
      return { place, kind: 'collect', begin: () => new Groups(grouping) }
    }
    case '$bucketAuto': {
      const bucketing = compileBucketAuto(spec, place, expressions)
      return { place, kind: 'collect', begin: () => new AutoBuckets(bucketing) }
    }
    case '$sortByCount': {
      const grouping = compileCounts(spec, place, expressions)
      const sort = compileSort({ count: -1 })
      const wanted = firstWanted(next)
      return [
        { place, kind: 'collect', begin: () => new Groups(grouping) },
        { place, kind: 'collect', begin: () => new Sorter(sort, wanted) }
      ]
    }
    case '$densify': {
      const densification = compileDensify(spec, place, expressions)
      return { place, kind: 'collect', begin: () => new Densified(densification) }
    }
    case '$fill':
      return { place, ...compileFill(spec, place, expressions) }
    case '$facet':
      return { place, kind: 'facet', facets: compileFacets(spec, place, expressions) }
    case '$lookup':
      return { place, kind: 'lookup', lookup: compileLookup(spec, place, expressions, inner) }
    case '$graphLookup':
      return { place, kind: 'graphLookup', search: compileGraphLookup(spec, place, expressions) }
    case '$unionWith':
      return { place, kind: 'union', from: compileUnion(spec, place, expressions, inner) }
    default: {
      const windows = objectOf(spec, place)
      let begin: (() => Collector) | undefined
      // Loaded along with the operators, because few pipelines use windows.
      expressions.require(place, async (compiler) => {
        const { compileWindows, WindowFields } = await import('./windows/stage.ts')
        const windowing = compileWindows(windows, place, compiler)
        begin = () => new WindowFields(windowing)
      })
      return { place, kind: 'collect', begin: () => (begin as () => Collector)() }
    }
  }
}

function compileStageSort(spec: unknown, place: StagePlace, { order }: Expressions): CompiledSort {
  const sort = withStage(place, () => compileSort(objectOf(spec, place), order))
  if (sort.natural === undefined) return sort
  throw stageError('BadValue', place, '$natural is the order of a collection: only $match can come before it')
}

/** Returns how many documents the stages after a sort let through. */
function firstWanted(next: readonly ParsedStage[]): number {
  let skipped = 0
  for (const { place, spec } of next) {
    if (place.stage === '$skip') skipped += wholeNumber(spec, place, 0)
    else if (place.stage === '$limit') return skipped + wholeNumber(spec, place, 1)
    else break
  }
  return Number.POSITIVE_INFINITY
}

function compileFacets(
  spec: unknown,
  place: StagePlace,
  expressions: Expressions
): readonly { readonly name: string; readonly stages: readonly Stage[] }[] {
  return Object.entries(objectOf(spec, place)).map(([key, pipeline]) => {
    const name = fieldName(key, place)
    const parsed = parsePipeline(pipeline, { within: `$facet.${name}`, isOverDocuments: true })
    const nested = parsed.find((stage) => stage.place.stage === '$facet')
    if (nested !== undefined) throw stageError('FailedToParse', nested.place, 'a facet cannot contain another $facet')
    if (expressions.order !== undefined) assertStagesSupportCollation(parsed)
    return { name, stages: compileStages(parsed, expressions) }
  })
}
