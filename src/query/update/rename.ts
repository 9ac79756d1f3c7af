/** `$rename`: moves a value from one path to another. Neither path may lead through an array. */
import { childOf, positionOf } from '../../model/path.ts'
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import { blocked, type EditOptions, editAt } from './edit.ts'
import { parseUpdatePath, type UpdatePath } from './path.ts'
import { absent, type Change } from './types.ts'

type Rename = Extract<Change, { kind: 'rename' }>

const operator = '$rename'
const options = { operator, ignoresBlockedPath: false, isFiltered: () => false }

/** @throws PetalError BadValue and what parseUpdatePath throws */
export function parseRename(from: string, to: unknown): Rename {
  const place = { operator, path: from } as const
  if (typeof to !== 'string')
    throw filterError('BadValue', place, `the new name must be a string, not ${describeType(to)}`)
  if (from === to) throw filterError('BadValue', place, 'the old and the new name must differ')
  if (to.startsWith(`${from}.`) || from.startsWith(`${to}.`)) {
    throw filterError('BadValue', place, `'${to}' must not be on the same path`)
  }
  const rename: Rename = {
    kind: 'rename',
    operator,
    from: parseUpdatePath(from, operator),
    path: parseUpdatePath(to, operator)
  }
  for (const path of [rename.from, rename.path]) {
    if (path.steps.some(({ kind }) => kind !== 'field')) {
      throw filterError('BadValue', { operator, path: path.text }, 'positional path components are not allowed')
    }
  }
  return rename
}

/**
 * Returns the same document if it has no value under the old name, whatever the new name is.
 * @throws PetalError PathNotViable if the old name leads into a value without fields, BadValue if either name leads
 *   through an array
 */
export function applyRename(document: Document, { from, path }: Rename, owned: Pick<EditOptions, 'owned'>): Document {
  const editOptions = { ...options, ...owned }
  const found = valueAt(document, from)
  if (found === undefined) return document
  if (found.isInArray) throw throughArray(from)
  assertNoArrays(document, path)
  const without = editAt(document, from, () => absent, editOptions)
  return editAt(without, path, () => found.value, editOptions)
}

interface Found {
  readonly value: unknown
  /** Whether the path leads through an array. */
  readonly isInArray: boolean
}

function valueAt(document: Document, path: UpdatePath): Found | undefined {
  const names = path.text.split('.')
  let value: unknown = document
  let isInArray = false
  for (const [i, name] of names.entries()) {
    if (Array.isArray(value) ? positionOf(name) === undefined : !isPlainObject(value)) {
      throw blocked({ operator, path: path.text }, names.slice(0, i + 1), value)
    }
    isInArray ||= Array.isArray(value)
    value = childOf(value, name)
    if (value === undefined) return undefined
  }
  return { value, isInArray }
}

function assertNoArrays(document: Document, path: UpdatePath): void {
  let value: unknown = document
  for (const step of path.steps) {
    if (Array.isArray(value)) throw throughArray(path)
    if (step.kind !== 'field' || !isPlainObject(value) || !Object.hasOwn(value, step.name)) return
    value = value[step.name]
  }
}

function throughArray({ text }: UpdatePath): Error {
  return filterError('BadValue', { operator, path: text }, 'the path passes through an array')
}
