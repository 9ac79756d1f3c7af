/**
 * Determines which paths of its input a pipeline looks at, so that the rest of each document need not be parsed. Works
 * on stages as written, before they are compiled: malformed ones are reported there.
 *
 * Rule: a document without the rest must have the same results. What is not known to look at certain paths looks at
 * all of them.
 */
import { topLevelKey } from '../model/path.ts'
import { isPlainObject } from '../model/types.ts'
import { pathsOfProjection } from '../query/filter-paths.ts'
import type { ParsedStage } from './parse.ts'

/** Operators that read fields without a path that begins with `$`. */
const implicitReaders = new Set(['$getField', '$top', '$topN', '$bottom', '$bottomN'])
/** Variables for the whole document. */
const wholeDocument = new Set(['$$ROOT', '$$CURRENT'])

/**
 * Returns undefined if anything may be looked at, or be part of a result.
 * @param stages after the filter, order and range of the read
 */
export function pathsUsedBy(stages: readonly ParsedStage[]): ReadonlySet<string> | undefined {
  const used = new Set<string>()
  for (const { place, spec } of stages) {
    switch (place.stage) {
      case '$skip':
      case '$limit':
      case '$sample':
        break
      case '$match':
        if (!addFilter(spec, used)) return undefined
        break
      case '$sort':
        if (!isPlainObject(spec)) return undefined
        for (const path of Object.keys(spec)) used.add(path)
        break
      case '$unwind':
        if (!addExpression(spec, used)) return undefined
        break
      case '$set':
      case '$addFields':
        // Fields within a field are added to those it has.
        if (!isPlainObject(spec) || !addExpression(spec, used)) return undefined
        for (const path of Object.keys(spec)) used.add(topLevelKey(path))
        break
      case '$count':
        return used
      case '$group':
      case '$bucket':
      case '$bucketAuto':
      case '$sortByCount':
        return addExpression(spec, used) ? used : undefined
      case '$project':
        return addProjection(spec, used) ? used : undefined
      default:
        return undefined
    }
  }
  return undefined
}

/** Returns undefined if the expression may look at anything. */
export function pathsOfExpression(expression: unknown): ReadonlySet<string> | undefined {
  const used = new Set<string>()
  return addExpression(expression, used) ? used : undefined
}

/** Of plain inclusions and computed fields; anything else may exclude fields, and keep all others. */
function addProjection(spec: unknown, used: Set<string>): boolean {
  if (!isPlainObject(spec)) return false
  const computed = new Set(Object.keys(spec).filter((path) => isComputed(spec[path])))
  // A projection that computes a field includes it.
  const inclusions = Object.entries(spec).map(([path, value]) => [path, computed.has(path) || value])
  const included = pathsOfProjection(Object.fromEntries(inclusions))
  if (included === undefined) return false
  for (const path of included) if (!computed.has(path)) used.add(path)
  // Fields within a field are added to those it has.
  for (const path of computed) if (path.includes('.')) used.add(topLevelKey(path))
  return [...computed].every((path) => addExpression(spec[path], used))
}

function isComputed(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return true
  return isPlainObject(value) && Object.keys(value)[0]?.startsWith('$') === true
}

/** A filter as written. */
function addFilter(filter: unknown, used: Set<string>): boolean {
  if (!isPlainObject(filter)) return false
  return Object.entries(filter).every(([key, value]) => {
    if (key === '$expr') return addExpression(value, used)
    if (key === '$and' || key === '$or' || key === '$nor') {
      return Array.isArray(value) && value.every((part) => addFilter(part, used))
    }
    if (key.startsWith('$')) return false
    used.add(key)
    return true
  })
}

/** An expression, or an object or array that contains some. */
function addExpression(value: unknown, used: Set<string>): boolean {
  if (typeof value === 'string') return addPath(value, used)
  if (Array.isArray(value)) return value.every((part) => addExpression(part, used))
  if (!isPlainObject(value)) return !(value instanceof Map)
  return Object.entries(value).every(([key, part]) => !implicitReaders.has(key) && addExpression(part, used))
}

function addPath(text: string, used: Set<string>): boolean {
  if (!text.startsWith('$')) return true
  if (text.startsWith('$$')) return !wholeDocument.has(topLevelKey(text))
  used.add(text.slice(1))
  return true
}
