/**
 * Compiles updates, with operators such as `{ $set: { a: 1 }, $push: { 'b.c': 2 } }` or whole replacements, to
 * functions from document to new document.
 *
 * Invariants:
 * 1. The argument is never changed; unchanged parts are shared with the result.
 * 2. An update that throws has no effect, and one that changes nothing returns the very same document.
 * 3. `_id` never changes.
 * 4. No two operators affect the same place, and the original document decides which elements are selected, so the
 *    order of operators does not matter; new fields are appended in the order of paths.
 */
import { cloneDocument, cloneValue, isIdentical } from '../../model/clone.ts'
import { equalValues, type StringOrder } from '../../model/compare.ts'
import { PetalError } from '../../model/errors.ts'
import { type Document, isPlainObject, Type, typeOf } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import { sanitizeFilter } from '../sanitize.ts'
import { editAt } from './edit.ts'
import { ElementConflicts, type ElementPlace } from './element-conflicts.ts'
import { insertOnlyOperators, operators, tolerantOperators } from './operators.ts'
import { checkConflicts, comparePaths, parseUpdatePath } from './path.ts'
import { ArrayFilters, MatchedPositions } from './positional.ts'
import { applyRename, parseRename } from './rename.ts'
import type { Change, Update, UpdatePlace } from './types.ts'

export type { Update, UpdateContext } from './types.ts'

export interface UpdateOptions {
  /** One filter for each identifier of `$[identifier]`. */
  readonly arrayFilters?: readonly unknown[] | undefined
  /** The query that selected the document, to which the positional `$` refers. */
  readonly filter?: unknown
  /** How strings compare if not by code point: a collation. */
  readonly order?: StringOrder | undefined
}

/**
 * Compiles an update of operators. The update is copied: changing it later changes nothing. For pipelines see
 * aggregate/update-pipeline.ts.
 * @throws PetalError BadValue, FailedToParse, TypeMismatch, EmptyFieldName, DollarPrefixedFieldName,
 *   ConflictingUpdateOperators. The compiled update throws BadValue, TypeMismatch, PathNotViable and ImmutableField
 * @example
 * const update = compileUpdate({ $inc: { views: 1 }, $addToSet: { tags: 'new' } })
 * update({ _id: 1, views: 4 }, { isInsert: false, now: new Date() }) // { _id: 1, views: 5, tags: ['new'] }
 */
export function compileUpdate(update: unknown, options: UpdateOptions = {}): Update {
  const changes = parseChanges(update, options.order).sort((a, b) => comparePaths(a.path, b.path))
  checkConflicts(placesOf(changes))
  const arrayFilters = new ArrayFilters(options.arrayFilters, options.order)
  for (const { path, operator } of changes) arrayFilters.use(path, operator)
  arrayFilters.checkAllUsed()
  const elementConflicts = new ElementConflicts(changes.flatMap(pathsOf), arrayFilters.matches)
  const positions = new MatchedPositions(options.filter, options.order)
  const hasMatchedStep = changes.some(({ path }) => path.steps.some(({ kind }) => kind === 'matched'))

  return (document, context) => {
    const applicable = context.isInsert ? changes : changes.filter((change) => !isInsertOnly(change))
    const resolved = hasMatchedStep ? resolveMatched(document, applicable, positions) : applicable
    elementConflicts.check(document)
    let result = document
    const owned = resolved.length > 1 ? { owned: new Set() } : {}
    for (const change of resolved) {
      if (change.kind === 'rename') {
        result = applyRename(result, change, owned)
      } else {
        const { operator, path, ignoresBlockedPath, edit } = change
        const editOptions = {
          operator,
          ignoresBlockedPath,
          isFiltered: arrayFilters.matches,
          original: document,
          ...owned
        }
        result = editAt(result, path, (current) => edit(current, context), editOptions)
      }
    }
    if (result !== document) checkIdentity(document, result)
    return result
  }
}

/**
 * Compiles the replacement of a whole document. `_id` is kept, in first place if the replacement has none.
 * @throws PetalError TypeMismatch, BadValue; the compiled replacement throws ImmutableField for another `_id`
 */
export function compileReplacement(replacement: unknown): Update {
  if (!isPlainObject(replacement)) {
    throw new PetalError('TypeMismatch', `A replacement must be an object, not ${describeType(replacement)}`)
  }
  const operator = Object.keys(replacement).find((key) => key.startsWith('$'))
  if (operator !== undefined) {
    throw filterError('BadValue', { operator, path: '' }, 'a replacement must not contain update operators')
  }
  const fields = cloneDocument(replacement)
  return (document) => withFields(document, fields)
}

/**
 * Replaces the document's fields by these; `_id` is kept, in first place if `fields` has none.
 * @returns the very same document when that changes nothing
 * @throws PetalError ImmutableField for another `_id`
 */
export function withFields(document: Document, fields: Document): Document {
  const hasId = Object.hasOwn(document, '_id')
  if (hasId && Object.hasOwn(fields, '_id')) checkIdentity(document, fields)
  const result: Document = hasId && !Object.hasOwn(fields, '_id') ? { _id: document._id, ...fields } : { ...fields }
  if (hasId) result._id = document._id
  return isIdentical(result, document) ? document : result
}

function isInsertOnly(change: Change): boolean {
  return change.kind === 'edit' && change.isInsertOnly
}

/** Replaces `$` by positions; only then is it known whether 'a.$' and 'a.0' are one place. */
function resolveMatched(document: Document, changes: readonly Change[], positions: MatchedPositions): Change[] {
  const resolved = changes.map((change) => ({
    ...change,
    path: positions.resolve(document, change.path, change.operator)
  }))
  checkConflicts(placesOf(resolved))
  return resolved
}

function placesOf(changes: readonly Change[]): UpdatePlace[] {
  return changes.flatMap(pathsOf).map(({ operator, path }) => ({ operator, path: path.text }))
}

function pathsOf(change: Change): ElementPlace[] {
  const { operator, path } = change
  return change.kind === 'rename' ? [change, { operator, path: change.from }] : [{ operator, path }]
}

function parseChanges(update: unknown, order: StringOrder | undefined): Change[] {
  if (!isPlainObject(update)) {
    throw new PetalError('TypeMismatch', `An update must be an object, not ${describeType(update)}`)
  }
  const names = Object.keys(update)
  if (names.length === 0 || names.every((name) => !name.startsWith('$'))) {
    throw new PetalError('BadValue', 'An update needs operators such as $set; to replace a document, use replaceOne')
  }
  return names.flatMap((name) => parseOperator(name, update[name], order))
}

function parseOperator(name: string, argument: unknown, order: StringOrder | undefined): Change[] {
  const compile = operators.get(name)
  if (compile === undefined && name !== '$rename') {
    throw filterError('FailedToParse', { operator: name, path: '' }, 'is not an update operator')
  }
  if (!isPlainObject(argument)) {
    const problem = `takes an object { path: operand }, not ${describeType(argument)}`
    throw filterError('FailedToParse', { operator: name, path: '' }, problem)
  }
  return Object.entries(argument).map(([path, operand]): Change => {
    if (compile === undefined) return parseRename(path, operand)
    const place = { operator: name, path }
    const parsedPath = parseUpdatePath(path, name)
    return {
      kind: 'edit',
      operator: name,
      path: parsedPath,
      edit: compile(copyOperand(operand, name, path), place, order),
      ignoresBlockedPath: tolerantOperators.has(name),
      isInsertOnly: insertOnlyOperators.has(name)
    }
  })
}

function copyOperand(operand: unknown, operator: string, path: string): unknown {
  const type = typeOf(operand)
  if (type === Type.undefined || type === Type.unsupported) {
    // $unset ignores its operand; everywhere else undefined is more likely a mistake than a value.
    if (operator === '$unset') return undefined
    const hint = type === Type.undefined ? '; use $unset to remove a field, or null to clear it' : ''
    throw filterError(
      'BadValue',
      { operator, path },
      `a value of type ${describeType(operand)} cannot be stored${hint}`
    )
  }
  // The condition of $pull is a filter: dropping an undefined from it would make it match more.
  if (operator === '$pull') return sanitizeFilter({ [path]: operand })[path]
  return cloneValue(operand)
}

function checkIdentity(before: Document, after: Document): void {
  if (!Object.hasOwn(before, '_id')) return
  if (Object.hasOwn(after, '_id') && equalValues(before._id, after._id)) return
  throw new PetalError(
    'ImmutableField',
    "Performing an update on the path '_id' would modify the immutable field '_id'",
    {
      details: { path: '_id' }
    }
  )
}
