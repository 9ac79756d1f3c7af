/** Errors that only declared indexes raise, one factory per situation. */
import { PetalError } from '../../model/errors.ts'
import { emptyArray, type SortKey } from '../../query/sort-key.ts'
import { shownKey } from '../errors.ts'
import { type IndexDefinition, keyPattern } from './definition.ts'

export function duplicateEntry(collection: string, definition: IndexDefinition, values: SortKey): PetalError {
  const keyValue = Object.fromEntries(
    definition.fields.map(({ path }, i) => [path, values[i] === emptyArray ? [] : (values[i] ?? null)])
  )
  const message = `E11000 duplicate key error collection: ${collection} index: ${definition.name} dup key: ${show(keyValue)}`
  return new PetalError('DuplicateKey', message, {
    details: { index: definition.name, keyPattern: keyPattern(definition), keyValue }
  })
}

export function parallelArrays(definition: Pick<IndexDefinition, 'name'>, path: string): PetalError {
  return new PetalError(
    'CannotIndexParallelArrays',
    `The index '${definition.name}' cannot contain parallel arrays: '${path}' traverses a second one`,
    { details: { index: definition.name, path } }
  )
}

/** @param spec name or key pattern */
export function indexNotFound(spec: unknown): PetalError {
  return new PetalError('IndexNotFound', `There is no index ${showSpec(spec)}`, { details: { index: spec } })
}

/** @param what describes the conflict with the existing index */
export function indexConflict(codeName: 'IndexOptionsConflict' | 'IndexKeySpecsConflict', what: string): PetalError {
  return new PetalError(codeName, what)
}

function show(value: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(value).map(([path, part]) => `${path}: ${shownKey(part)}`)
  return `{ ${parts.join(', ')} }`
}

/** Shows a name or a key pattern. */
export function showSpec(spec: unknown): string {
  try {
    return JSON.stringify(spec) ?? String(spec)
  } catch {
    // What JSON cannot hold, such as an object with a bigint, must not make the error message fail.
    return '…'
  }
}
