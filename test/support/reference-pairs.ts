/**
 * A minimal index: the set of pairs of one document, as text. An oracle for bounds that shares no code with the real
 * flattener.
 *
 * It errs on purpose, as a real index may: an upper bound now and then says yes without reason (like Bloom filters), a
 * lower bound now and then withholds what it could prove (like hashed pairs), and an irregular document proves nothing
 * under the keys concerned.
 */
import { compareValues } from '../../src/model/compare.ts'
import type { Pair, PairExpression, Range } from '../../src/model/pairs.ts'
import { toScalar } from '../../src/model/scalar.ts'
import { type Document, Type, typeOf } from '../../src/model/types.ts'

export interface ReferencePairs {
  readonly pairs: ReadonlySet<string>
  /** Keys of the scalars of a type on a path, by `type path`; undefined for a number that its key only approximates. */
  readonly keys: ReadonlyMap<string, readonly (number | string | undefined)[]>
  /** First components of index paths under which pairs prove nothing. */
  readonly irregularKeys: ReadonlySet<string>
}

/** Errors about one pair: `lies` for upper bounds, `withholds` for lower ones. */
export interface Mischief {
  lies(): boolean
  withholds(): boolean
}

export const honest: Mischief = { lies: () => false, withholds: () => false }
/** A document with too many pairs to keep: always a candidate, never proved. */
export const overfull: Mischief = { lies: () => true, withholds: () => true }

export function randomMischief(seed: number): Mischief {
  let state = seed | 0
  const chance = (): boolean => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return (state >>> 16) % 4 === 0
  }
  return { lies: chance, withholds: chance }
}

export function referencePairs(document: Document): ReferencePairs {
  const pairs = new Set<string>()
  const keys = new Map<string, (number | string | undefined)[]>()
  const irregularKeys = new Set<string>()

  const visitFields = (object: Document, parents: readonly string[], isIrregular: boolean): void => {
    for (const [key, value] of Object.entries(object)) {
      if (value === undefined) continue
      const isDigits = /^\d+$/.test(key)
      visit(value, isDigits ? parents : [...parents, key], isIrregular || isDigits || key.includes('.'))
    }
  }

  const visit = (value: unknown, components: readonly string[], isIrregular: boolean): void => {
    const path = components.join('.')
    const note = (pair: string, provesNothing: boolean): void => {
      pairs.add(pair)
      if (provesNothing) irregularKeys.add(path.split('.')[0] ?? '')
    }
    note(`exists ${path}`, isIrregular)
    note(`type ${typeOf(value)} ${path}`, isIrregular)
    const scalar = toScalar(value)
    if (scalar !== undefined) note(`value ${scalar.type} ${scalar.key} ${path}`, isIrregular || !scalar.exact)
    if (scalar !== undefined) {
      const name = `${scalar.type} ${path}`
      keys.set(name, [...(keys.get(name) ?? []), scalar.exact ? scalar.key : undefined])
    }
    if (Array.isArray(value)) {
      note(`size ${value.length} ${path}`, isIrregular)
      for (const element of value) visit(element ?? null, components, isIrregular || Array.isArray(element))
    } else if (typeOf(value) === Type.object) visitFields(value as Document, components, isIrregular)
  }

  visitFields(document, [], false)
  return { pairs, keys, irregularKeys }
}

export interface Verdict {
  readonly lower: boolean
  readonly upper: boolean
}

export function evaluate(expression: PairExpression, document: ReferencePairs, mischief: Mischief): Verdict {
  switch (expression.kind) {
    case 'all':
      return { lower: true, upper: true }
    case 'none':
      return { lower: false, upper: false }
    case 'pair': {
      const has = document.pairs.has(textOf(expression.pair))
      const isIrregular = document.irregularKeys.has(expression.pair.path.split('.')[0] ?? '')
      return { lower: has && !isIrregular && !mischief.withholds(), upper: has || mischief.lies() }
    }
    case 'range': {
      const { range } = expression
      const keys = document.keys.get(`${range.type} ${range.path}`) ?? []
      const isKnown = keys.length === 1 && !document.irregularKeys.has(range.path.split('.')[0] ?? '')
      const isWithin = keys.some((key) => key === undefined || isBetween(key, range))
      // A real index that does not know the values says yes as soon as there are any.
      const upper = isWithin || (keys.length > 0 && mischief.lies())
      return { lower: isKnown && isWithin && !mischief.withholds(), upper: upper || mischief.lies() }
    }
    case 'and': {
      const verdicts = expression.children.map((child) => evaluate(child, document, mischief))
      return { lower: verdicts.every(({ lower }) => lower), upper: verdicts.every(({ upper }) => upper) }
    }
    case 'or': {
      const verdicts = expression.children.map((child) => evaluate(child, document, mischief))
      return { lower: verdicts.some(({ lower }) => lower), upper: verdicts.some(({ upper }) => upper) }
    }
    case 'not': {
      const { lower, upper } = evaluate(expression.child, document, mischief)
      return { lower: !upper, upper: !lower }
    }
    case 'bounds':
      return {
        lower: evaluate(expression.lower, document, mischief).lower,
        upper: evaluate(expression.upper, document, mischief).upper
      }
  }
}

function isBetween(key: number | string, { low, high }: Range): boolean {
  if (Number.isNaN(key)) return false
  const fromLow = low === undefined ? 1 : compareValues(key, low.key)
  const toHigh = high === undefined ? 1 : compareValues(high.key, key)
  return (
    (fromLow > 0 || (fromLow === 0 && low?.isInclusive === true)) &&
    (toHigh > 0 || (toHigh === 0 && high?.isInclusive === true))
  )
}

function textOf(pair: Pair): string {
  switch (pair.kind) {
    case 'exists':
      return `exists ${pair.path}`
    case 'type':
      return `type ${pair.type} ${pair.path}`
    case 'value':
      return `value ${pair.value.type} ${pair.value.key} ${pair.path}`
    case 'size':
      return `size ${pair.length} ${pair.path}`
  }
}
