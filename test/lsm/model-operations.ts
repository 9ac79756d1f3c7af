/** Random operations on a store, over key spaces so small that they often meet on a key. */
import fc from 'fast-check'
import type { ModelRange } from './model-state.ts'

/** Number of the key space: the database itself, or one of two sublevels, whose keys it sees as well. */
export type Space = 0 | 1 | 2

const hex = (text: string): string => Buffer.from(text).toString('hex')

export const sublevels = ['p', 'q']

/** Prefix of the keys of a space, in hexadecimal. */
export const prefixes: Readonly<Record<Space, string>> = { 0: '', 1: hex('!p!'), 2: hex('!q!') }

export type ValueSpec =
  | {
      readonly kind: 'document'
      readonly color: number
      readonly mixed: readonly (number | string)[]
      readonly filler: number
    }
  /** Not JSON: in no filter. */
  | { readonly kind: 'text'; readonly text: string }

export interface WriteSpec {
  readonly space: Space
  readonly key: string
  /** Undefined for a deletion. */
  readonly value: ValueSpec | undefined
}

export interface ScanSpec {
  readonly space: Space
  readonly range: ModelRange
  readonly reverse: boolean
  /** −1: none. */
  readonly limit: number
  /** Which of the open snapshots; undefined for the present. */
  readonly snapshot: number | undefined
}

export interface LookupSpec {
  readonly question:
    | { readonly kind: 'color'; readonly color: number }
    | { readonly kind: 'mixed'; readonly value: number | string }
    | { readonly kind: 'range'; readonly field: string; readonly low: Bound; readonly high: Bound }
  readonly space: Space
  readonly limit: number | undefined
  readonly reverse: boolean
  readonly snapshot: number | undefined
}

type Bound = number | string | undefined

export type Operation =
  /** Concurrent batches. */
  | {
      readonly kind: 'write'
      readonly batches: readonly (readonly WriteSpec[])[]
      readonly sync: boolean
      readonly form: WriteForm
    }
  | { readonly kind: 'clear'; readonly scan: ScanSpec }
  | {
      readonly kind: 'read'
      readonly space: Space
      readonly keys: readonly string[]
      readonly form: ReadForm
      readonly snapshot: number | undefined
    }
  | { readonly kind: 'scan'; readonly scan: ScanSpec; readonly form: ScanForm; readonly fillCache: boolean }
  /** An iterator that stays open. */
  | { readonly kind: 'openIterator'; readonly scan: ScanSpec; readonly highWaterMarkBytes: number }
  | {
      readonly kind: 'useIterator'
      readonly iterator: number
      readonly count: number
      readonly target: string | undefined
    }
  | { readonly kind: 'closeIterator'; readonly iterator: number }
  | { readonly kind: 'openSnapshot' }
  | { readonly kind: 'closeSnapshot'; readonly snapshot: number }
  | { readonly kind: 'lookup'; readonly lookup: LookupSpec }
  | { readonly kind: 'rebuildFilters' }
  | { readonly kind: 'flush' }
  | { readonly kind: 'compact'; readonly start: string; readonly end: string }
  /** Turns of the event loop, in which flushes and merges proceed. */
  | { readonly kind: 'pause'; readonly turns: number }
  /** With one of the setting's option sets. */
  | { readonly kind: 'reopen'; readonly variant: number }
  /** A power failure while these batches are being written; `seed` decides how much unsynced data is left. */
  | {
      readonly kind: 'crash'
      readonly batches: readonly (readonly WriteSpec[])[]
      readonly sync: boolean
      readonly turns: number
      readonly seed: number
      readonly variant: number
    }

export type WriteForm = 'single' | 'batch' | 'chained' | 'encoded'
type ReadForm = 'readText' | 'get' | 'getSync' | 'getMany' | 'has' | 'hasMany' | 'readInto'
type ScanForm = 'next' | 'all' | 'keys' | 'values'

export const colors = ['red', 'green', 'blue', 'grey', 'none has it'] as const

/** Empty keys, prefixes of one another, keys at the borders of the key space, a long key. */
const shortKeys = [
  ...['', '00', '0000', '61', '6100', '61ff', '62', 'fe', 'ff', 'ffff'],
  ...Array.from({ length: 12 }, (_, i) => hex(`key${i}`)),
  hex('k'.repeat(200))
]
/** Next to the sublevels' keys; without `!p"`, which abstract-level takes for a key of the sublevel. */
const borderKeys = ['!', '!p', '!p"0', '!q', '!q!!', '~'].map(hex)

const space = fc.constantFrom<Space[]>(0, 0, 1, 2)
const shortKey = fc.constantFrom(...shortKeys)
const rootKey = fc.oneof(
  { weight: 3, arbitrary: shortKey },
  { weight: 1, arbitrary: fc.constantFrom(...borderKeys) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...Object.values(prefixes)), shortKey).map(([prefix, key]) => prefix + key)
  }
)
const keyOf = (of: Space) => (of === 0 ? rootKey : shortKey)

const scalar = fc.oneof(fc.integer({ min: -5, max: 15 }), fc.constantFrom('', 'a', 'ab', 'b', 'ü"\\'))

const value: fc.Arbitrary<ValueSpec> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('document' as const),
      color: fc.nat(colors.length - 2),
      mixed: fc.array(scalar, { maxLength: 3 }),
      filler: fc.oneof(
        { weight: 6, arbitrary: fc.nat(60) },
        { weight: 1, arbitrary: fc.integer({ min: 200, max: 3000 }) }
      )
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('text' as const), text: fc.constantFrom('', '{', 'red') }) }
)

const write = space.chain((of) =>
  fc.record({
    space: fc.constant(of),
    key: keyOf(of),
    value: fc.oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: fc.constant(undefined) })
  })
)
const batch = fc.oneof(
  { weight: 3, arbitrary: fc.array(write, { minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.array(write, { minLength: 2, maxLength: 8 }) }
)
const batches = fc.oneof(
  { weight: 3, arbitrary: fc.array(batch, { minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.array(batch, { minLength: 2, maxLength: 4 }) }
)

const snapshot = fc.option(fc.nat(3), { nil: undefined })

const range = (of: Space): fc.Arbitrary<ModelRange> =>
  fc
    .tuple(fc.constantFrom('gt', 'gte', undefined), keyOf(of), fc.constantFrom('lt', 'lte', undefined), keyOf(of))
    .map(([lower, low, upper, high]) => ({
      ...(lower === undefined ? {} : { [lower]: low }),
      ...(upper === undefined ? {} : { [upper]: high })
    }))

const scan = (snapshots: fc.Arbitrary<number | undefined>): fc.Arbitrary<ScanSpec> =>
  space.chain((of) =>
    fc.record({
      space: fc.constant(of),
      range: fc.oneof(range(of), fc.constant({})),
      reverse: fc.boolean(),
      limit: fc.oneof({ weight: 3, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(6) }),
      snapshot: snapshots
    })
  )

/** Clears few keys: a store that is always empty tests nothing. */
const clearing = scan(snapshot).map((spec) => (spec.limit < 0 ? { ...spec, limit: 5 } : spec))
/** Without a limit, so that tables are dropped. */
const emptying = scan(fc.constant(undefined)).map((spec) => ({ ...spec, limit: -1 }))

const bound = fc.oneof(scalar, fc.constant(undefined))

const question: fc.Arbitrary<LookupSpec['question']> = fc.oneof(
  fc.record({ kind: fc.constant('color' as const), color: fc.nat(colors.length - 1) }),
  fc.record({ kind: fc.constant('mixed' as const), value: scalar }),
  fc.record({ kind: fc.constant('range' as const), field: fc.constant('mixed'), low: bound, high: bound }),
  fc
    .tuple(fc.nat(300), fc.nat(60))
    .map(([low, size]) => ({ kind: 'range' as const, field: 'n', low, high: low + size }))
)

const lookup: fc.Arbitrary<LookupSpec> = fc.record({
  question,
  space: fc.constantFrom<Space[]>(0, 0, 0, 1, 2),
  limit: fc.option(fc.nat(5), { nil: undefined }),
  reverse: fc.boolean(),
  snapshot
})

const read = space.chain((of) =>
  fc.record({
    kind: fc.constant('read' as const),
    space: fc.constant(of),
    keys: fc.array(keyOf(of), { minLength: 1, maxLength: 6 }),
    form: fc.constantFrom<ReadForm[]>('get', 'getSync', 'getMany', 'has', 'hasMany', 'readInto', 'readText'),
    snapshot
  })
)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      batches,
      sync: fc.integer({ min: 0, max: 5 }).map((dice) => dice === 0),
      form: fc.constantFrom<WriteForm[]>('single', 'single', 'batch', 'chained', 'encoded')
    })
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('clear' as const), scan: clearing }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), scan: emptying }) },
  { weight: 14, arbitrary: read },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('scan' as const),
      scan: scan(snapshot),
      form: fc.constantFrom<ScanForm[]>('next', 'all', 'keys', 'values'),
      fillCache: fc.boolean()
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('openIterator' as const),
      scan: scan(snapshot),
      highWaterMarkBytes: fc.constantFrom(0, 100, 16_384)
    })
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('useIterator' as const),
      iterator: fc.nat(3),
      count: fc.integer({ min: 0, max: 9 }),
      target: fc.option(rootKey, { nil: undefined })
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('closeIterator' as const), iterator: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'openSnapshot' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('closeSnapshot' as const), snapshot: fc.nat(3) }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('lookup' as const), lookup }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rebuildFilters' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'flush' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('compact' as const), start: rootKey, end: rootKey }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pause' as const), turns: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reopen' as const), variant: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      batches,
      sync: fc.boolean(),
      turns: fc.nat(6),
      seed: fc.nat(),
      variant: fc.nat(5)
    })
  }
)

/** 120 operations on average; a failing history is shrunk to the few that matter. */
export const histories: fc.Arbitrary<Operation[]> = fc.array(operation, { minLength: 1, maxLength: 239, size: 'max' })
