/**
 * Compiles the normal form to a closure that decides whether a document matches. It has the last word on every query.
 */
import { cloneDocument } from '../model/clone.ts'
import type { PetalError } from '../model/errors.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import type { Condition, Filter, Formula, Predicate, Test } from './ast.ts'
import { compileBranchLookup } from './branch-lookup.ts'
import { filterError } from './errors.ts'
import { type LeafArrays, someValue, type ValueTest } from './path-values.ts'
import {
  collated,
  equalTo,
  hasBits,
  hasLength,
  hasRemainder,
  hasType,
  inRange,
  isPresent,
  matchesPattern,
  oneOf
} from './predicates.ts'

type Decision<Subject> = (subject: Subject) => boolean

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** A promise would pass for every document: a deletion would delete all. */
function promiseRefused(promise: PromiseLike<unknown>): PetalError {
  // Nobody else would handle its rejection.
  promise.then(undefined, () => undefined)
  return filterError('BadValue', { operator: '$where', path: '' }, 'must not return a promise: it cannot be waited for')
}

export function compileMatcher(filter: Filter): Decision<Document> {
  return compileFormula(filter, compileCondition, compileBranchLookup)
}

export function compileTest(test: Test): ValueTest {
  return compileFormula(test, compilePredicate)
}

function compileFormula<Leaf, Subject>(
  formula: Formula<Leaf>,
  compileLeaf: (leaf: Leaf) => Decision<Subject>,
  compileBranches?: (
    branches: readonly Formula<Leaf>[],
    decisions: readonly Decision<Subject>[]
  ) => Decision<Subject> | undefined
): Decision<Subject> {
  const compile = (child: Formula<Leaf>): Decision<Subject> => compileFormula(child, compileLeaf, compileBranches)
  switch (formula.kind) {
    case 'and':
      return every(formula.children.map(compile))
    case 'or': {
      const decisions = formula.children.map(compile)
      return compileBranches?.(formula.children, decisions) ?? some(decisions)
    }
    case 'not': {
      const child = compile(formula.child)
      return (subject) => !child(subject)
    }
    case 'never':
      return () => false
    case 'leaf':
      return compileLeaf(formula.leaf)
  }
}

/** Unrolls short conjunctions: a loop over closures costs more than the closures. */
export function every<Subject>(children: readonly Decision<Subject>[]): Decision<Subject> {
  const [a, b, c] = children
  if (a === undefined) return () => true
  if (b === undefined) return a
  if (c === undefined) return (subject) => a(subject) && b(subject)
  if (children.length === 3) return (subject) => a(subject) && b(subject) && c(subject)
  return (subject) => {
    for (let i = 0; i < children.length; i++) if (!(children[i] as Decision<Subject>)(subject)) return false
    return true
  }
}

export function some<Subject>(children: readonly Decision<Subject>[]): Decision<Subject> {
  const [a, b] = children
  if (a === undefined) return () => false
  if (b === undefined) return a
  if (children.length === 2) return (subject) => a(subject) || b(subject)
  return (subject) => {
    for (let i = 0; i < children.length; i++) if ((children[i] as Decision<Subject>)(subject)) return true
    return false
  }
}

function compileCondition(condition: Condition): Decision<Document> {
  switch (condition.kind) {
    case 'field':
      return someValue(condition.path, leafArraysOf(condition.predicate), compilePredicate(condition.predicate))
    case 'where': {
      const { test } = condition
      // A function may change its argument.
      return (document) => {
        const copy = cloneDocument(document)
        const passes = test.call(copy, copy)
        if (isThenable(passes)) throw promiseRefused(passes)
        return Boolean(passes)
      }
    }
    case 'expression': {
      const { evaluate } = condition
      return (document) => isTruthy(evaluate(document))
    }
    case 'schema':
      return condition.passes
  }
}

/** Predicates on arrays test the array that the path leads to, not arrays inside it. */
function leafArraysOf(predicate: Predicate): LeafArrays {
  switch (predicate.kind) {
    case 'exists':
    case 'size':
    case 'elemMatchValue':
    case 'elemMatchObject':
      return 'whole'
    case 'equal':
    case 'in':
    case 'range':
    case 'collated':
    case 'regex':
    case 'type':
    case 'mod':
    case 'bits':
      return 'elements'
  }
}

function compilePredicate(predicate: Predicate): ValueTest {
  switch (predicate.kind) {
    case 'equal':
      return equalTo(predicate.value)
    case 'in':
      return oneOf(predicate.values, predicate.patterns)
    case 'range':
      return inRange(predicate.operator, predicate.value)
    case 'collated':
      return collated(predicate)
    case 'regex':
      return matchesPattern(predicate.pattern)
    case 'exists':
      return isPresent
    case 'type':
      return hasType(predicate.types)
    case 'size':
      return hasLength(predicate.length)
    case 'mod':
      return hasRemainder(predicate.divisor, predicate.remainder)
    case 'bits':
      return hasBits(predicate.operator, predicate.positions, predicate.mask)
    case 'elemMatchValue': {
      const test = compileTest(predicate.test)
      return (value) => Array.isArray(value) && value.some((element) => test(element ?? null))
    }
    case 'elemMatchObject': {
      const matches = compileMatcher(predicate.filter)
      return (value) => Array.isArray(value) && value.some((element) => isElementOf(element, matches))
    }
  }
}

function isElementOf(element: unknown, matches: Decision<Document>): boolean {
  if (isPlainObject(element)) return matches(element)
  // An array inside the array counts as a document whose keys are its positions.
  return Array.isArray(element) && matches({ ...element })
}

/** The truth value of an aggregation expression: false, null, missing and zero are false. */
function isTruthy(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  return !equalTo(0)(value)
}
