/** `$lookup` and `$unionWith`: compiles their queries of another collection. */
import { isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { checkKeys, fieldName, objectOf, pathOf } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import { invalidVariableName, isVariableName } from './expression-compile.ts'
import type { ForeignPipeline, Join, Lookup, Pipeline, Stage } from './stage.ts'

/** Compiles the nested pipelines of a stage: over a collection, or over given documents. */
export interface InnerPipelines {
  overCollection(pipeline: unknown, expressions: Expressions, within: string): Pipeline
  overDocuments(pipeline: unknown, expressions: Expressions, within: string): readonly Stage[]
}

export function compileLookup(
  spec: unknown,
  place: StagePlace,
  expressions: Expressions,
  inner: InnerPipelines
): Lookup {
  const lookup = objectOf(spec, place)
  checkKeys(lookup, ['from', 'localField', 'foreignField', 'let', 'pipeline', 'as'], place)
  const { from, localField, foreignField, pipeline, as } = lookup
  if (as === undefined) throw stageError('FailedToParse', place, 'as is required')
  if ((localField === undefined) !== (foreignField === undefined)) {
    const [given, other] = foreignField === undefined ? ['localField', 'foreignField'] : ['foreignField', 'localField']
    throw stageError('FailedToParse', place, `${given} requires a ${other}`)
  }
  const variables = variablesOf(lookup.let ?? {}, place, expressions)
  const names = variables.map(({ name }) => name)
  const join = expressions.withVariables(names, (): Join => {
    if (localField !== undefined || foreignField !== undefined) {
      const stages = inner.overDocuments(pipeline ?? [], expressions, place.stage)
      const [local, foreign] = [localField, foreignField].map((field) => pathOf(field, place).join('.'))
      const collection = collectionOf(from, place)
      return { kind: 'equality', collection, localField: local as string, foreignField: foreign as string, stages }
    }
    if (pipeline === undefined) {
      throw stageError('FailedToParse', place, 'either localField and foreignField or a pipeline is required')
    }
    const isShared = names.length === 0 && !isNondeterministic(pipeline)
    return { kind: 'pipeline', from: foreignPipeline(from, pipeline, place, expressions, inner), isShared }
  })
  return { as: pathOf(as, place), join, variables }
}

export function compileUnion(
  spec: unknown,
  place: StagePlace,
  expressions: Expressions,
  inner: InnerPipelines
): ForeignPipeline {
  const union = typeof spec === 'string' ? { coll: spec } : objectOf(spec, place)
  checkKeys(union, ['coll', 'pipeline'], place)
  const { coll, pipeline = [] } = union as { readonly coll?: unknown; readonly pipeline?: unknown }
  return foreignPipeline(coll, pipeline, place, expressions, inner)
}

/** Stages and operators whose result may differ at each run. */
const nondeterministic = new Set(['$sample', '$rand', '$function', '$accumulator', '$where'])

/** Whether a pipeline may return something else when it runs again. */
function isNondeterministic(spec: unknown): boolean {
  if (Array.isArray(spec)) return spec.some(isNondeterministic)
  return (
    isPlainObject(spec) && Object.keys(spec).some((key) => nondeterministic.has(key) || isNondeterministic(spec[key]))
  )
}

/** @param name may be omitted if the pipeline starts with documents of its own */
function foreignPipeline(
  name: unknown,
  pipeline: unknown,
  place: StagePlace,
  expressions: Expressions,
  inner: InnerPipelines
): ForeignPipeline {
  const compiled = inner.overCollection(pipeline, expressions, place.stage)
  const isNamed = name !== undefined || compiled.read !== undefined
  return { collection: isNamed ? collectionOf(name, place) : undefined, pipeline: compiled }
}

/** @throws PetalError BadValue, and those of expressions */
export function variablesOf(spec: unknown, place: StagePlace, expressions: Expressions): Lookup['variables'] {
  if (!isPlainObject(spec)) throw stageError('BadValue', place, `let takes an object, not ${describeType(spec)}`)
  return Object.entries(spec).map(([name, value]) => {
    if (!isVariableName(fieldName(name, place))) {
      throw stageError('BadValue', place, invalidVariableName(name))
    }
    return { name, value: expressions.compile(value, place) }
  })
}

/** @throws PetalError BadValue */
export function collectionOf(name: unknown, place: StagePlace): string {
  if (typeof name === 'string' && name !== '') return name
  const found = name === '' ? 'an empty one' : describeType(name)
  throw stageError('BadValue', place, `a collection name must be a string, not ${found}`)
}
