/**
 * Names the parts of a filter that pairs cannot narrow by value, for explain(): for these, the index knows at most
 * whether the field exists and its type.
 */
import { Type, typeOf } from '../model/types.ts'
import { type Condition, type Filter, leavesOf, type Predicate, type Test } from './ast.ts'
import { rootPath, walkPath } from './indexed-path.ts'
import { prefixOf } from './pattern-prefix.ts'

/** Without duplicates, for example `['$where', '$mod at a.b']`. */
export function unboundedParts(filter: Filter): readonly string[] {
  return [...new Set(partsOfFilter(filter, ''))]
}

function partsOfFilter(filter: Filter, prefix: string): readonly string[] {
  return leavesOf(filter).flatMap((condition) => partsOfCondition(condition, prefix))
}

function partsOfTest(test: Test, path: string): readonly string[] {
  switch (test.kind) {
    case 'and':
    case 'or':
      return test.children.flatMap((child) => partsOfTest(child, path))
    case 'not':
      return partsOfTest(test.child, path).concat(`negation inside $elemMatch at ${path}`)
    case 'never':
      return []
    case 'leaf':
      return partsOfPredicate(test.leaf, path, false)
  }
}

function partsOfCondition(condition: Condition, prefix: string): readonly string[] {
  switch (condition.kind) {
    case 'where':
      return ['$where']
    case 'expression':
      return ['$expr']
    case 'schema':
      return ['$jsonSchema']
    case 'field': {
      const { components, text } = condition.path
      const isNullBounded = prefix === '' && walkPath(rootPath, components).isPlain
      return partsOfPredicate(condition.predicate, `${prefix}${text}`, isNullBounded)
    }
  }
}

/** @param isNullBounded not in an element, which may lack a field that others have, nor at a position */
function partsOfPredicate(predicate: Predicate, path: string, isNullBounded: boolean): readonly string[] {
  switch (predicate.kind) {
    case 'equal':
      return predicate.value === null && !isNullBounded ? [`null at ${path}`] : []
    case 'in':
      return [
        ...(predicate.values.includes(null) && !isNullBounded ? [`null at ${path}`] : []),
        ...(predicate.patterns.length > 0 ? [`$regex at ${path}`] : [])
      ]
    case 'range':
      return isRanged(predicate.value) ? [] : [`${predicate.operator} at ${path}`]
    case 'collated':
      return [`a collation at ${path}`]
    case 'regex':
      return prefixOf(predicate.pattern)?.isWhole ? [] : [`$regex at ${path}`]
    case 'mod':
      return [`$mod at ${path}`]
    case 'bits':
      return [`${predicate.operator} at ${path}`]
    case 'exists':
    case 'size':
      return []
    case 'type':
      return predicate.types.some((type) => type.kind !== 'code') ? [`$type at ${path}`] : []
    case 'elemMatchValue':
      return partsOfTest(predicate.test, path)
    case 'elemMatchObject':
      return partsOfFilter(predicate.filter, `${path}.`)
  }
}

/** Types of values that have range codes. */
function isRanged(bound: unknown): boolean {
  const type = typeOf(bound)
  return type === Type.number || type === Type.date || type === Type.string
}
