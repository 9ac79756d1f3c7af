/** Formats bounds as readable text, for explain(). */
import type { Pair, PairExpression, Range } from '../../model/pairs.ts'
import type { Scalar } from '../../model/scalar.ts'
import { Type, typeNames } from '../../model/types.ts'

const maxValueCharacters = 40

/**
 * @example
 * describeBounds(compileFilter({ lang: 'en', 'user.verified': { $ne: true } }).bounds)
 * // '(lang = "en" AND NOT user.verified = true)'
 */
export function describeBounds(expression: PairExpression): string {
  switch (expression.kind) {
    case 'all':
      return 'ALL'
    case 'none':
      return 'NONE'
    case 'pair':
      return describePair(expression.pair)
    case 'range':
      return describeRange(expression.range)
    case 'and':
      return `(${expression.children.map(describeBounds).join(' AND ')})`
    case 'or':
      return `(${expression.children.map(describeBounds).join(' OR ')})`
    case 'not':
      return `NOT ${describeBounds(expression.child)}`
    case 'bounds':
      return expression.lower.kind === 'none'
        ? `MAYBE ${describeBounds(expression.upper)}`
        : `BETWEEN ${describeBounds(expression.lower)} AND ${describeBounds(expression.upper)}`
  }
}

function describePair(pair: Pair): string {
  switch (pair.kind) {
    case 'value':
      return `${pair.path} = ${describeScalar(pair.value)}`
    case 'exists':
      return `EXISTS ${pair.path}`
    case 'type':
      return `${pair.path} IS ${typeNames[pair.type]}`
    case 'size':
      return `SIZE ${pair.path} = ${pair.length}`
  }
}

/** `60 <= n < 70` */
function describeRange({ path, type, low, high }: Range): string {
  const show = (key: number | string): string => describeScalar({ type, key, exact: true })
  const above = low === undefined ? '' : `${show(low.key)} ${low.isInclusive ? '<=' : '<'} `
  return `${above}${path}${high === undefined ? '' : ` ${high.isInclusive ? '<=' : '<'} ${show(high.key)}`}`
}

function describeScalar({ type, key }: Scalar): string {
  switch (type) {
    case Type.null:
    case Type.minKey:
    case Type.maxKey:
      return typeNames[type]
    case Type.bool:
      return key === 1 ? 'true' : 'false'
    case Type.number:
      return String(key)
    case Type.date:
      return Number.isFinite(key) ? new Date(key).toISOString() : 'Invalid Date'
    default: {
      const text = String(key)
      const shown = JSON.stringify(text.length > maxValueCharacters ? `${text.slice(0, maxValueCharacters)}…` : text)
      return type === Type.string ? shown : `${typeNames[type]}(${shown})`
    }
  }
}
