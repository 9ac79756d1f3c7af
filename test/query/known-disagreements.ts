/**
 * Known errors of npm mingo 7 and sift 17, measured against MongoDB's documentation and the published behaviour of its
 * matcher. differential.test.ts checks that each example still fails in the library and that nothing else does.
 */
import type { Document } from '../../src/model/types.ts'
import type { FilterObject } from '../support/arbitraries.ts'

export type Library = 'mingo' | 'sift'

/** One operator on one path. */
export interface Condition {
  readonly path: string
  readonly operator: string
  readonly argument: unknown
}

export interface Disagreement {
  readonly library: Library
  /** What the library does. */
  readonly error: string
  /** What MongoDB documents. */
  readonly documented: string
  readonly example: { readonly filter: FilterObject; readonly document: Document; readonly matches: boolean }
  /** True if the error can have an effect. */
  readonly applies: (condition: Condition, document: Document) => boolean
}

/** An error of both libraries. */
const elementsThatAreNoDocuments: Omit<Disagreement, 'library'> = {
  error: 'lets elements that are not documents match the filter of an $elemMatch',
  documented: '$elemMatch with conditions on fields considers only elements that are documents or arrays',
  example: { filter: { a: { $elemMatch: { 'b.c': { $exists: false } } } }, document: { a: [1] }, matches: false },
  applies: ({ operator, argument, path }, document) =>
    (operator === '$elemMatch' || (operator === '$all' && mentions(argument, '$elemMatch'))) &&
    ends(document, path).some((value) => Array.isArray(value) && !value.every(isContainer))
}

export const knownDisagreements: readonly Disagreement[] = [
  {
    library: 'mingo',
    error: 'treats other values as integers in bitwise operators, and ignores elements of arrays',
    documented: 'bitwise operators match 64-bit integers and binary data, and elements of arrays',
    example: { filter: { a: { $bitsAllClear: [0] } }, document: {}, matches: false },
    applies: ({ operator, path }, document) => operator.startsWith('$bits') && !every(document, path, isInteger)
  },
  {
    library: 'mingo',
    error: 'collects the values below an array on the path in one array, which may be empty',
    documented:
      'every value below the array is tested by itself; $size, $type and $elemMatch never see such a collection',
    example: { filter: { 'a.b': { $size: 0 } }, document: { a: [1] }, matches: false },
    applies: ({ operator, argument, path }, document) =>
      meetsArray(document, path) &&
      (['$size', '$type', '$elemMatch', '$exists'].includes(operator) ||
        (operator === '$all' && mentions(argument, '$elemMatch')) ||
        (isEqualityOperator(operator) && isOrHolds(argument, Array.isArray)) ||
        (isRange(operator) && Array.isArray(argument)))
  },
  {
    library: 'mingo',
    error: 'does not match null if only some elements of an array lack the field',
    documented: '{ "a.b": null } matches if an element that is a document lacks b, and not if no element is one',
    example: { filter: { 'a.b': null }, document: { a: [{ b: 1 }, {}] }, matches: true },
    applies: ({ operator, argument, path }, document) =>
      isEqualityOperator(operator) && isOrHolds(argument, isNull) && meetsArray(document, path)
  },
  {
    library: 'mingo',
    error: 'does not let $gte: null, $lte: null and $all: [null] match missing fields',
    documented: 'null equals missing, in $gte, $lte and $all too',
    example: { filter: { a: { $lte: null } }, document: {}, matches: true },
    applies: ({ operator, argument, path }, document) =>
      (isInclusiveRange(operator) || operator === '$all') &&
      isOrHolds(argument, isNull) &&
      (!exists(document, path) || meetsArray(document, path))
  },
  {
    library: 'mingo',
    error: 'does not compare arrays with arrays in ranges',
    documented: 'an array compares with an array element by element, in BSON order',
    example: { filter: { a: { $gt: [1] } }, document: { a: [2] }, matches: true },
    applies: ({ operator, argument, path }, document) =>
      isRange(operator) && Array.isArray(argument) && ends(document, path).some(Array.isArray)
  },
  {
    library: 'mingo',
    error: 'does not compare objects in ranges in BSON order',
    documented: 'objects compare field by field: type of the value, name, value',
    example: { filter: { a: { $gte: { b: 'x' } } }, document: { a: { a: {} } }, matches: true },
    applies: ({ operator, argument, path }, document) =>
      isRange(operator) && isObject(argument) && ends(document, path).some(isObject)
  },
  {
    library: 'mingo',
    error: 'accepts strings, booleans and fractions in $mod',
    documented: '$mod matches numbers only, and truncates them',
    example: { filter: { a: { $mod: [2, 0] } }, document: { a: '' }, matches: false },
    applies: ({ operator, path }, document) => operator === '$mod' && !every(document, path, isInteger)
  },
  {
    library: 'mingo',
    error: 'does not find an array among the members of $in, $nin and $all',
    documented: '{ $in: [[1]] } matches the array [1] and an array that contains it',
    example: { filter: { a: { $in: [[1], 5] } }, document: { a: [1] }, matches: true },
    applies: ({ operator, argument, path }, document) =>
      (operator === '$in' || operator === '$nin' || operator === '$all') &&
      isOrHolds(argument, Array.isArray) &&
      ends(document, path).some(Array.isArray)
  },
  {
    library: 'mingo',
    error: 'lets $all match arrays only',
    documented: '$all is a conjunction of equalities: { $all: [1] } matches the scalar 1',
    example: { filter: { a: { $all: [1] } }, document: { a: 1 }, matches: true },
    applies: ({ operator, path }, document) =>
      operator === '$all' && ends(document, path).some((value) => value !== undefined && !Array.isArray(value))
  },
  {
    library: 'mingo',
    error: 'ignores arrays below an array in ranges and $in if other elements of it have scalars',
    documented: 'every value below the array is tested by itself, elements of further arrays included',
    example: { filter: { 'a.b': { $gt: 0 } }, document: { a: [{ b: 'x' }, { b: [1] }] }, matches: true },
    applies: ({ operator, path }, document) =>
      (isRange(operator) || operator === '$in' || operator === '$nin') &&
      meetsArray(document, path) &&
      ends(document, path).some(Array.isArray)
  },
  {
    library: 'mingo',
    error: 'ignores the elements of an array in $type',
    documented: '$type matches an array if one of its elements has the type',
    example: { filter: { a: { $type: 'number' } }, document: { a: [1] }, matches: true },
    applies: ({ operator, path }, document) => operator === '$type' && ends(document, path).some(Array.isArray)
  },
  { library: 'mingo', ...elementsThatAreNoDocuments },
  { library: 'sift', ...elementsThatAreNoDocuments },
  {
    library: 'sift',
    error: 'does not know the bitwise operators',
    documented: '$bitsAllSet, $bitsAnySet, $bitsAllClear and $bitsAnyClear are query operators',
    example: { filter: { a: { $bitsAllSet: 1 } }, document: { a: 1 }, matches: true },
    applies: ({ operator, argument }) =>
      operator.startsWith('$bits') ||
      ((operator === '$elemMatch' || operator === '$all' || operator === '$not') && mentions(argument, '$bits'))
  },
  {
    library: 'sift',
    error: 'throws on $type: "object" and other names that are not classes',
    documented: 'types are given by their BSON names or numbers',
    example: { filter: { a: { $type: 'object' } }, document: {}, matches: false },
    applies: ({ operator, argument }) =>
      (operator === '$type' && argument === 'object') ||
      ((operator === '$elemMatch' || operator === '$all') && mentions(argument, '$type'))
  },
  {
    library: 'sift',
    error: 'lets $type: "null" match missing fields',
    documented: '$type: "null" matches null values only',
    example: { filter: { 'a.b': { $type: 'null' } }, document: { a: null }, matches: false },
    applies: ({ operator, argument, path }, document) =>
      operator === '$type' && argument === 'null' && !every(document, path, isPresentValue)
  },
  {
    library: 'sift',
    error: 'lets $all of nothing, and of arrays and objects, match values that do not contain them',
    documented: '$all of an empty array matches nothing; arrays and objects in it are values to find',
    example: { filter: { a: { $all: [] } }, document: {}, matches: false },
    applies: ({ operator, argument }) => operator === '$all' && isOrHolds(argument, isContainer)
  },
  {
    library: 'sift',
    error: 'compares arrays, objects and null in ranges by JavaScript’s coercion',
    documented: 'ranges compare within one BSON type, arrays and objects part by part',
    example: { filter: { a: { $gte: [] } }, document: {}, matches: false },
    applies: ({ operator, argument }) => isRange(operator) && (isContainer(argument) || argument === null)
  },
  {
    library: 'sift',
    error: 'treats a digit component of a path as the position of a character in a string',
    documented: 'digits name a key of a document or a position in an array; a string has no parts',
    example: { filter: { 'a.0': 'x' }, document: { a: 'xyz' }, matches: false },
    applies: ({ path }, document) => meetsStringBeforeDigits(document, path)
  },
  {
    library: 'sift',
    error: 'treats a missing field as null when it compares objects',
    documented: 'equal objects have the same fields in the same order',
    example: { filter: { a: { b: null } }, document: { a: { c: 1 } }, matches: false },
    applies: ({ operator, argument, path }, document) =>
      isEqualityOperator(operator) &&
      isOrHolds(argument, (value) => isContainer(value) && JSON.stringify(value).includes('null')) &&
      ends(document, path).some(isContainer)
  },
  {
    library: 'sift',
    error: 'matches null in an array without documents, and not in one that has the position',
    documented: 'elements that are not documents yield nothing; a document lacks the key that a position names',
    example: { filter: { 'a.b': null }, document: { a: [1] }, matches: false },
    applies: ({ operator, argument, path }, document) =>
      (isEqualityOperator(operator) || isInclusiveRange(operator)) &&
      isOrHolds(argument, isNull) &&
      meetsArray(document, path)
  },
  {
    library: 'sift',
    error: 'accepts strings, booleans, empty arrays and fractions in $mod',
    documented: '$mod matches numbers only, and truncates them',
    example: { filter: { a: { $mod: [2, 0] } }, document: { a: '' }, matches: false },
    applies: ({ operator, path }, document) => operator === '$mod' && !every(document, path, isInteger)
  }
]

function isRange(operator: string): boolean {
  return operator === '$gt' || operator === '$lt' || isInclusiveRange(operator)
}

function isInclusiveRange(operator: string): boolean {
  return operator === '$gte' || operator === '$lte'
}

function isEqualityOperator(operator: string): boolean {
  return ['$eq', '$ne', '$in', '$nin', '$all'].includes(operator)
}

function isOrHolds(argument: unknown, test: (value: unknown) => boolean): boolean {
  return test(argument) || (Array.isArray(argument) && argument.some(test))
}

function isNull(value: unknown): boolean {
  return value === null
}

function isPresentValue(value: unknown): boolean {
  return value !== undefined
}

function isInteger(value: unknown): boolean {
  return Number.isInteger(value)
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mentions(argument: unknown, operator: string): boolean {
  return JSON.stringify(argument).includes(`"${operator}`)
}

/** All values that the path can lead to, arrays as well as their elements, and `undefined` where it leads nowhere. */
function ends(value: unknown, path: string): readonly unknown[] {
  return endsAt(value, path.split('.'))
}

function endsAt(value: unknown, components: readonly string[]): readonly unknown[] {
  const [first, ...rest] = components
  if (first === undefined) return Array.isArray(value) ? [value, ...value] : [value]
  if (typeof value !== 'object' || value === null) return [undefined]
  const direct = Object.hasOwn(value, first) ? endsAt((value as Document)[first], rest) : [undefined]
  return Array.isArray(value) ? [...direct, ...value.flatMap((element) => endsAt(element, components))] : direct
}

function every(document: Document, path: string, test: (value: unknown) => boolean): boolean {
  return ends(document, path).every(test)
}

function exists(document: Document, path: string): boolean {
  return every(document, path, isPresentValue)
}

/** True if the path meets an array before its end. */
function meetsArray(document: Document, path: string): boolean {
  const components = path.split('.')
  return components.some((_, i) => i > 0 && endsAt(document, components.slice(0, i)).some(Array.isArray))
}

function meetsStringBeforeDigits(document: Document, path: string): boolean {
  const components = path.split('.')
  return components.some(
    (component, i) =>
      /^\d+$/.test(component) && endsAt(document, components.slice(0, i)).some((value) => typeof value === 'string')
  )
}
