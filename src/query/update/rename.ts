/** `$rename`: moves a value from one path to another. Neither path may lead through an array. */
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import { editAt } from './edit.ts'
import { parseUpdatePath, type UpdatePath } from './path.ts'
import { absent, type Change } from './types.ts'

type Rename = Extract<Change, { kind: 'rename' }>

const operator = '$rename'

/** @throws PetalError BadValue and what parseUpdatePath throws */
export function parseRename(from: string, to: unknown): Rename {
  const place = { operator, path: from } as const
  if (typeof to !== 'string')
    throw filterError('BadValue', place, `the new name must be a string, not ${describeType(to)}`)
  if (from === to) throw filterError('BadValue', place, 'the old and the new name must differ')
  const rename: Rename = {
    kind: 'rename',
    operator,
    from: parseUpdatePath(from, operator),
    path: parseUpdatePath(to, operator)
  }
  for (const path of [rename.from, rename.path]) {
    if (path.steps.some(({ kind }) => kind !== 'field')) {
      throw filterError('BadValue', { operator, path: path.text }, 'positional steps cannot be renamed')
    }
  }
  return rename
}

/** Returns the same document when there is nothing under the old name. */
export function applyRename(document: Document, { from, path }: Rename): Document {
  refuseArrays(document, from)
  refuseArrays(document, path)
  let value: unknown = absent
  const without = editAt(
    document,
    from,
    (current) => {
      value = current
      return absent
    },
    { operator, ignoresBlockedPath: true, isFiltered: () => false }
  )
  if (value === absent) return document
  return editAt(without, path, () => value, { operator, ignoresBlockedPath: false, isFiltered: () => false })
}

function refuseArrays(document: Document, path: UpdatePath): void {
  let value: unknown = document
  for (const step of path.steps) {
    if (Array.isArray(value)) {
      throw filterError('BadValue', { operator, path: path.text }, 'the path leads through an array')
    }
    if (step.kind !== 'field' || !isPlainObject(value) || !Object.hasOwn(value, step.name)) return
    value = value[step.name]
  }
}
