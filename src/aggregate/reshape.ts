/** Stages that map each document to one document: `$project`, `$unset`, `$addFields`, `$replaceRoot`, `$redact`. */
import { maxDepth, tooDeep } from '../model/depth.ts'
import { type Document, isPlainObject, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { compileProjection } from '../query/projection.ts'
import type { ProjectionOptions } from '../query/projection-parse.ts'
import { checkDisjoint, checkKeys, objectOf, pathOf } from './arguments.ts'
import { type StagePlace, stageError, withStage } from './errors.ts'
import { copyOf, type Expressions } from './expression.ts'
import type { Expression } from './expression-compile.ts'
import type { ParsedStage } from './parse.ts'
import { withValueAt } from './set-path.ts'

type Reshape = (document: Document) => Document

/** Returns undefined for other stages, and for `$redact`, which may drop documents. */
export function compileReshape({ place, spec }: ParsedStage, expressions: Expressions): Reshape | undefined {
  switch (place.stage) {
    case '$project':
      return compileProject(spec, place, expressions)
    case '$unset':
      return projection(unsetProjection(spec, place), place)
    case '$addFields':
    case '$set':
      return compileAddFields(spec, place, expressions)
    case '$replaceRoot': {
      const root = objectOf(spec, place)
      checkKeys(root, ['newRoot'], place)
      return compileReplaceRoot(root.newRoot, place, expressions)
    }
    case '$replaceWith':
      return compileReplaceRoot(spec, place, expressions)
    default:
      return undefined
  }
}

function compileProject(spec: unknown, place: StagePlace, expressions: Expressions): Reshape {
  const fields = objectOf(spec, place)
  return withStage(place, () =>
    compileProjection(fields, { compute: (expression) => expressions.compile(expression, place) })
  )
}

/**
 * Compiles the projection of a find: as compileProjection(), with computed fields besides included ones.
 * @param options `filter` determines which element the positional `$` refers to
 * @param expressions called only if there are computed fields
 * @throws PetalError as compileProjection() and Expressions.compile()
 */
export function compileFindProjection(
  spec: unknown,
  { filter, order }: Omit<ProjectionOptions, 'compute'>,
  expressions: () => Expressions
): Reshape {
  const place = { stage: 'projection' }
  const compute = (expression: unknown): Expression => expressions().compile(expression, place)
  return compileProjection(copyOf(spec, place), { filter: filter ?? {}, compute, order })
}

/** Whether a find's projection has the same meaning: it only includes or excludes fields, and computes none. */
export function isPlainProjection(spec: Document): boolean {
  return (
    Object.values(spec).every(
      (value) => isSwitch(value) || (isPlainObject(value) && !isEmptyObject(value) && isPlainProjection(value))
    ) && !hasOperator(spec)
  )
}

/** @throws PetalError BadValue unless it is a path, or an array of paths of which none is within another */
export function unsetProjection(spec: unknown, place: StagePlace): Document {
  const list = Array.isArray(spec) ? (spec as readonly unknown[]) : [spec]
  if (list.length === 0) throw stageError('BadValue', place, 'at least one path is required')
  const paths = list.map((path) => pathOf(path, place).join('.'))
  // Before they become keys of an object, in which a path that occurs twice would be lost.
  checkDisjoint(paths, place)
  return Object.fromEntries(paths.map((path) => [path, 0]))
}

export function projection(spec: Document, place: StagePlace): Reshape {
  return withStage(place, () => compileProjection(spec))
}

function compileAddFields(spec: unknown, place: StagePlace, expressions: Expressions): Reshape {
  const entries = leaves(objectOf(spec, place), '', place)
  const fields = entries.map(([path, value]) => ({
    components: pathOf(path, place),
    value: expressions.compile(value, place)
  }))
  checkDisjoint(
    entries.map(([path]) => path),
    place
  )
  return (document) => {
    let result = document
    const owned = fields.length > 1 ? new Set() : undefined
    // All values are computed from the original document.
    for (const { components, value } of fields) result = withValueAt(result, components, value(document), result, owned)
    return result
  }
}

function compileReplaceRoot(newRoot: unknown, place: StagePlace, expressions: Expressions): Reshape {
  const value = expressions.compile(newRoot, place)
  return (document) => {
    const root = value(document)
    if (isPlainObject(root)) return root
    throw stageError('BadValue', place, `the new root must be an object, not ${describeType(root)}`)
  }
}

/** Returns undefined for a document that is removed. */
export function compileRedact(
  spec: unknown,
  place: StagePlace,
  expressions: Expressions
): (document: Document) => Document | undefined {
  const decide = expressions.compile(spec, place)
  const redact = (document: Document, depth = 0): Document | undefined => {
    const decision = decide(document)
    switch (decision) {
      case '$$KEEP':
        return document
      case '$$PRUNE':
        return undefined
      case '$$DESCEND': {
        const entries = Object.entries(document).map(([key, value]) => [key, below(value, depth + 1)] as const)
        return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
      }
    }
    throw stageError(
      'BadValue',
      place,
      `the argument must evaluate to $$KEEP, $$PRUNE or $$DESCEND, not ${describeType(decision)}`
    )
  }
  const below = (value: unknown, depth: number): unknown => {
    if (depth > maxDepth) throw stageError('BadValue', place, tooDeep('a value').message)
    if (Array.isArray(value)) {
      return value.map((element) => below(element, depth + 1)).filter((element) => element !== undefined)
    }
    return isPlainObject(value) ? redact(value, depth) : value
  }
  return (document) => redact(document)
}

/** Returns the leaf paths with their values; an object that is not an operator extends the path. */
function leaves(spec: Document, prefix: string, place: StagePlace): (readonly [path: string, value: unknown])[] {
  return Object.entries(spec).flatMap(([key, value]) => {
    if (key.startsWith('$')) throw stageError('FailedToParse', place, `a field cannot be named '${key}'`)
    const path = prefix === '' ? key : `${prefix}.${key}`
    const goesOn = isPlainObject(value) && !isEmptyObject(value) && !Object.keys(value)[0]?.startsWith('$')
    return goesOn ? leaves(value, path, place) : [[path, value] as const]
  })
}

function isSwitch(value: unknown): boolean {
  return typeof value === 'boolean' || typeOf(value) === Type.number
}

function isEmptyObject(value: Document): boolean {
  return Object.keys(value).length === 0
}

function hasOperator(spec: Document): boolean {
  return Object.keys(spec).some((key) => key.startsWith('$'))
}
