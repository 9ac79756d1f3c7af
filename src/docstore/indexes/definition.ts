/** The definition of a declared index: its key fields, their directions, and its options. Validated here, once. */
import { PetalError } from '../../model/errors.ts'
import { shown } from '../../model/invalid-option.ts'
import { isDigits, splitPath } from '../../model/path.ts'
import { type Document, describeType, Type, typeOf } from '../../model/types.ts'
import { pathAndDirection } from '../../query/path-direction.ts'
import type { Known } from '../known-options.ts'
import { assertOptions } from '../option-checks.ts'

export interface IndexField {
  readonly path: string
  readonly direction: 1 | -1
}

/** A definition as stored in the catalog. */
export interface IndexDefinition {
  /** Number of the index's area; never reused within a collection. */
  readonly id: number
  readonly name: string
  readonly fields: readonly IndexField[]
  readonly unique: boolean
  readonly sparse: boolean
  /** undefined unless the index expires documents. */
  readonly expireAfterSeconds?: number
}

/** Options of createIndex(). */
export interface CreateIndexOptions {
  /** Reject documents whose key equals that of another document. Default false. */
  readonly unique?: boolean | undefined
  /** Omit documents that have none of the indexed paths. Default false. */
  readonly sparse?: boolean | undefined
  /**
   * Makes a TTL index: documents are deleted this many seconds after the date in its only field (the earliest of
   * several), soon after they expire and by this process. Documents without a date there never expire. From 0 to
   * 2147483647; 0 expires at the date itself. See docs/expiry.md.
   */
  readonly expireAfterSeconds?: number | undefined
  /** Name of the index. Default: paths and directions joined, as in `a_1_b_-1`. */
  readonly name?: string | undefined
  /** Without effect: reads and writes always continue during a build. Accepted for code written for MongoDB. */
  readonly background?: boolean | undefined
  /**
   * Aborts the build with an AbortedError and removes the partial index. If another call is building the index, it only
   * ends the wait for that build.
   */
  readonly signal?: AbortSignal | undefined
  /** Called after every slice that this call writes. */
  readonly onProgress?: ((progress: IndexBuildProgress) => void) | undefined
}

const knownProperties = { unique: true, sparse: true, expireAfterSeconds: true, name: true, background: true } as const

export const knownIndexCreation = {
  ...knownProperties,
  signal: true,
  onProgress: true
} satisfies Known<CreateIndexOptions>

/** One index of createIndexes(), in the form that listIndexes() returns. */
export interface IndexToCreate extends Omit<CreateIndexOptions, 'signal' | 'onProgress'> {
  readonly key: IndexSpec
}

/** Options of createIndexes(). */
export interface CreateIndexesOptions {
  /** As for createIndex(); indexes already built when it fires remain. */
  readonly signal?: AbortSignal | undefined
}

export const knownIndexesCreation = { signal: true } satisfies Known<CreateIndexesOptions>

const knownIndexToCreate = { ...knownProperties, key: true } satisfies Known<IndexToCreate>

/** Progress of an index build. */
export interface IndexBuildProgress {
  /** Document ordinals processed, out of those that existed when the build began. */
  readonly done: number
  readonly total: number
}

/** An index as returned by listIndexes(). */
export interface IndexDescription {
  readonly name: string
  readonly key: Readonly<Record<string, 1 | -1>>
  readonly unique: boolean
  readonly sparse: boolean
  /** undefined unless the index expires documents. */
  readonly expireAfterSeconds?: number
}

/** `{ a: 1, 'b.c': -1 }`, a Map, `[['a', 1], ['b.c', -1]]`, `'a'` or an array of field names. */
export type IndexSpec =
  | string
  | Readonly<Record<string, 1 | -1>>
  | ReadonlyMap<string, 1 | -1>
  | readonly (string | readonly [string, 1 | -1])[]

const maxFields = 31

/** MongoDB's limit, about 68 years. */
const maxExpireAfterSeconds = 2_147_483_647

/**
 * Validates a key pattern and options.
 * @param options already checked by assertOptions()
 * @throws PetalError BadValue, CommandNotSupported; CannotCreateIndex and InvalidIndexSpecificationOption for
 *   `expireAfterSeconds`
 */
export function checkIndex(spec: unknown, options: CreateIndexOptions): Omit<IndexDefinition, 'id'> {
  const fields = parseFields(spec)
  const { unique = false, sparse = false, background = false } = options
  // What lists the indexes of a MongoDB collection gives the index of `_id` its name.
  const isNameOfIds = options.name === '_id_' && defaultName(fields) === '_id_1'
  const { name = defaultName(fields) } = isNameOfIds ? {} : options
  if (typeof unique !== 'boolean') throw badOption('unique', 'a boolean', unique)
  if (typeof sparse !== 'boolean') throw badOption('sparse', 'a boolean', sparse)
  if (typeof background !== 'boolean') throw badOption('background', 'a boolean', background)
  if (typeof name !== 'string' || name === '') throw badOption('name', 'a non-empty string', name)
  if (name === '_id_' || name === 'scan' || name === 'index') {
    throw new PetalError('BadValue', `An index cannot be named '${name}'`, { details: { option: 'name' } })
  }
  const { expireAfterSeconds } = options
  if (expireAfterSeconds === undefined) return { name, fields, unique, sparse }
  checkExpiry(fields, expireAfterSeconds)
  return { name, fields, unique, sparse, expireAfterSeconds }
}

/** @throws as checkIndex(), before any index is built */
export function checkIndexes(indexes: readonly IndexToCreate[]): void {
  if (!Array.isArray(indexes) || indexes.length === 0) {
    const got = Array.isArray(indexes) ? 'an empty array' : shown(indexes)
    throw new PetalError(
      'BadValue',
      `createIndexes takes an array of indexes such as { key: { email: 1 } }, got ${got}`
    )
  }
  for (const [i, index] of indexes.entries()) {
    const what = `index ${i} of createIndexes`
    assertOptions(what, index, knownIndexToCreate)
    if (index.key === undefined) throw new PetalError('BadValue', `${what} has no key`, { details: { option: 'key' } })
    checkIndex(index.key, index)
  }
}

/** Whether the keys of the two are built and ordered the same way. */
export function hasSameFields(a: readonly IndexField[], b: readonly IndexField[]): boolean {
  return (
    a.length === b.length && a.every(({ path, direction }, i) => path === b[i]?.path && direction === b[i]?.direction)
  )
}

export function keyPattern({ fields }: Pick<IndexDefinition, 'fields'>): Record<string, 1 | -1> {
  return Object.fromEntries(fields.map(({ path, direction }) => [path, direction]))
}

export function describeIndex(definition: IndexDefinition): IndexDescription {
  const { name, unique, sparse, expireAfterSeconds } = definition
  const expiry = expireAfterSeconds === undefined ? {} : { expireAfterSeconds }
  return { name, key: keyPattern(definition), unique, sparse, ...expiry }
}

/** @throws PetalError BadValue, CommandNotSupported */
export function parseFields(spec: unknown): readonly IndexField[] {
  const fields: IndexField[] = []
  for (const [path, direction] of entriesOf(spec)) {
    const field = { path: checkPath(path), direction: checkDirection(path, direction) }
    if (fields.some((other) => other.path === field.path)) {
      throw new PetalError('BadValue', `The field '${field.path}' occurs twice in the index`, {
        details: { path: field.path }
      })
    }
    fields.push(field)
  }
  if (fields.length > 0 && fields.length <= maxFields) return fields
  throw new PetalError('BadValue', `An index must have 1 to ${maxFields} fields, got ${fields.length}`)
}

function checkExpiry(fields: readonly IndexField[], seconds: unknown): void {
  if (typeof seconds !== 'number') throw cannotExpire(`takes a number of seconds, got ${describeType(seconds)}`)
  if (!(seconds >= 0 && seconds <= maxExpireAfterSeconds)) {
    throw cannotExpire(`takes 0 to ${maxExpireAfterSeconds} seconds, got ${seconds}`)
  }
  const [{ path } = { path: '' }, ...others] = fields
  if (others.length > 0) throw cannotExpire('must have a single field; compound indexes do not support it')
  if (path === '_id') {
    const problem = "The field 'expireAfterSeconds' is not valid for an index of '_id'"
    throw new PetalError('InvalidIndexSpecificationOption', problem, {
      details: { option: 'expireAfterSeconds', path }
    })
  }
  // Such a path has no ranges in an index, so every sweep would read all of it.
  if (splitPath(path).some(isDigits)) throw cannotExpire(`cannot have array positions in its path, as in '${path}'`)
}

function defaultName(fields: readonly IndexField[]): string {
  return fields.map(({ path, direction }) => `${path}_${direction}`).join('_')
}

function entriesOf(spec: unknown): Iterable<readonly [unknown, unknown]> {
  if (typeof spec === 'string') return [[spec, 1]]
  if (spec instanceof Map) return spec
  if (Array.isArray(spec)) return spec.map((entry) => pathAndDirection(entry, 'An index'))
  if (typeOf(spec) === Type.object) return Object.entries(spec as Document)
  throw new PetalError(
    'BadValue',
    `An index is specified by an object, a Map, an array or a path, not ${describeType(spec)}`
  )
}

function checkPath(path: unknown): string {
  if (typeof path !== 'string') throw new PetalError('BadValue', `A path must be a string, not ${describeType(path)}`)
  const components = splitPath(path)
  const isRefused = components.some((component) => component === '' || component.startsWith('$'))
  if (!isRefused && !components.includes('__proto__')) return path
  throw new PetalError('BadValue', `The path '${path}' cannot be indexed`, { details: { path } })
}

function checkDirection(path: unknown, direction: unknown): 1 | -1 {
  if (direction === 1 || direction === -1) return direction
  if (typeof direction === 'string') {
    throw new PetalError(
      'CommandNotSupported',
      `Indexes of type '${direction}' are not supported, at '${String(path)}'`,
      { details: { path } }
    )
  }
  throw new PetalError('BadValue', `The direction of '${String(path)}' must be 1 or -1, not ${shown(direction)}`, {
    details: { path }
  })
}

function cannotExpire(problem: string): PetalError {
  return new PetalError('CannotCreateIndex', `An index with expireAfterSeconds ${problem}`, {
    details: { option: 'expireAfterSeconds' }
  })
}

function badOption(option: string, wanted: string, value: unknown): PetalError {
  return new PetalError('BadValue', `${option} must be ${wanted}, got ${describeType(value)}`, { details: { option } })
}
