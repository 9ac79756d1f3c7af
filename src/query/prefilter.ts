/**
 * Compiles a filter to a test of a document's stored text that rules out most documents before they are parsed.
 *
 * Invariants:
 * 1. false means that the document does not match; true means nothing. The matcher still decides.
 * 2. Only records are tested; for any other text the result is true.
 *
 * Soundness: a condition takes part if only a string, a number or a boolean, by itself or in an array, passes its
 * predicate. A match then has such a value as an own property under the path's last key, and records have one spelling
 * for a key: the text contains `"key":` followed by that value. Every occurrence of `"key":`, however deeply nested, is
 * tested by the matcher's own predicate. In records with wrappers an object may be a number, and a key that begins with
 * `$` may have another `$` before it (see model/wrappers.ts).
 *
 * An occurrence may not be a key at all (see raw-key.ts): that can only turn false into true.
 */
import { isDigits } from '../model/path.ts'
import { objectIdMarkByte, wrappedMarkByte } from '../model/record-marks.ts'
import { Type, typeOf } from '../model/types.ts'
import type { Filter, Predicate } from './ast.ts'
import { collated, equalTo, hasBits, hasRemainder, inRange, matchesPattern, oneOf } from './predicates.ts'
import { compileKeySearch } from './raw-key.ts'
import { valueMayPass } from './raw-value.ts'

/** Returns whether a record may match. */
export type TextTest = (text: string) => boolean

type RecordTest = (text: string, hasWrappers: boolean) => boolean

/** A predicate on values whose JSON has no brackets: strings, numbers, booleans. */
type LeafTest = (value: string | number | boolean) => boolean

/** Longer lists would be converted to sets twice, for a filter that pairs bound well anyway. */
const maxListed = 1000
/** Testing the text for more branches takes longer than parsing it. */
const maxBranches = 16

/**
 * @returns undefined when the text cannot tell: negations, null, `$exists`, `$elemMatch`, positions in arrays
 * @example
 * const mayMatch = compilePrefilter(parsed) // of { 'user.followers': { $gte: 1000 } }
 * mayMatch?.('{"_id":1,"user":{"followers":12}}') // false
 * mayMatch?.('{"_id":1,"user":{"followers":[12,"many"]}}') // true: arrays are left to the matcher
 */
export function compilePrefilter(filter: Filter): TextTest | undefined {
  const mayMatch = compileText(filter)
  return mayMatch && ((text) => !isRecord(text) || mayMatch(text, text.charCodeAt(0) === wrappedMarkByte))
}

/**
 * Recognises the forms of docstore/documents/record.ts. An ObjectId as `_id` may be represented by its digits: no
 * condition that takes part holds for an ObjectId, so testing the digits is harmless.
 */
function isRecord(text: string): boolean {
  const mark = text.charCodeAt(0)
  const start = mark === wrappedMarkByte || mark === objectIdMarkByte ? 1 : 0
  return text.charCodeAt(start) === 0x7b && text.charCodeAt(text.length - 1) === 0x7d
}

function compileText(filter: Filter): RecordTest | undefined {
  switch (filter.kind) {
    case 'and': {
      const tests = filter.children.map(compileText).filter((test) => test !== undefined)
      return tests.length < 2 ? tests[0] : (text, hasWrappers) => tests.every((test) => test(text, hasWrappers))
    }
    case 'or': {
      if (filter.children.length > maxBranches) return undefined
      const tests = filter.children.map(compileText)
      if (!tests.every((test) => test !== undefined)) return undefined
      return (text, hasWrappers) => tests.some((test) => test(text, hasWrappers))
    }
    case 'not':
      return undefined
    case 'never':
      return () => false
    case 'leaf':
      return filter.leaf.kind === 'field' ? compileField(filter.leaf.path.components, filter.leaf.predicate) : undefined
  }
}

function compileField(components: readonly string[], predicate: Predicate): RecordTest | undefined {
  // An all-digit component may also be a position in an array, so the value need not follow a key.
  if (components.some((component) => component === '' || isDigits(component))) return undefined
  const test = compileLeaf(predicate)
  return test && someOccurrence(components[components.length - 1] as string, test)
}

function someOccurrence(key: string, test: LeafTest): RecordTest {
  const someValue = compileKeySearch(key)
  const hasDollar = key.startsWith('$')
  return (text, hasWrappers) =>
    (hasDollar && hasWrappers) || someValue(text, (at) => valueMayPass(text, at, test, hasWrappers))
}

/** Returns undefined unless only strings, numbers, booleans or values in other kinds of wrappers pass the predicate. */
function compileLeaf(predicate: Predicate): LeafTest | undefined {
  switch (predicate.kind) {
    case 'equal':
      return isJsonLeaf(predicate.value) ? equalTo(predicate.value) : undefined
    case 'in': {
      const { values, patterns } = predicate
      return values.length <= maxListed && values.every(isJsonLeaf) ? oneOf(values, patterns) : undefined
    }
    case 'range':
      return isJsonLeaf(predicate.value) ? inRange(predicate.operator, predicate.value) : undefined
    case 'collated':
      return predicate.values.length <= maxListed && predicate.values.every(isJsonLeaf)
        ? collated(predicate)
        : undefined
    case 'regex':
      return matchesPattern(predicate.pattern)
    case 'mod':
      return hasRemainder(predicate.divisor, predicate.remainder)
    case 'bits':
      return hasBits(predicate.operator, predicate.positions, predicate.mask)
    case 'exists':
    case 'type':
    case 'size':
    case 'elemMatchValue':
    case 'elemMatchObject':
      return undefined
  }
}

/** Only values of its own type equal such a value, or are above or below it. */
function isJsonLeaf(value: unknown): boolean {
  const type = typeOf(value)
  return type === Type.string || type === Type.number || type === Type.bool
}
