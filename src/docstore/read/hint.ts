/** What the option `hint` asks for. */
import { isPlainObject } from '../../model/types.ts'
import { directionOf } from '../../query/sort.ts'
import { badOption } from '../option-checks.ts'

export interface Hint {
  /** `'scan'`, `'index'`, or a declared index by its name or its key pattern; undefined for none. */
  readonly told: unknown
  /** The order of documents where no sort asks for another, of `{ $natural: 1 }` and `{ $natural: -1 }`: a scan, oldest or newest first. */
  readonly natural: 1 | -1 | undefined
}

/** @throws PetalError BadValue for what is none */
export function parseHint(hint: unknown): Hint {
  if (hint !== undefined && typeof hint !== 'string' && (typeof hint !== 'object' || hint === null)) {
    throw badOption('hint', "'scan', 'index' or an index", hint)
  }
  if (!isPlainObject(hint) || !Object.hasOwn(hint, '$natural')) return { told: hint, natural: undefined }
  const natural = directionOf(hint.$natural)
  if (natural !== undefined && Object.keys(hint).length === 1) return { told: 'scan', natural }
  throw badOption('hint', "'scan', which is also { $natural: 1 } or { $natural: -1 },", hint)
}
