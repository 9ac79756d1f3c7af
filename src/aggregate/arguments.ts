/** Checks of stage arguments: whole numbers, objects, field names. */
import { exactInt64 } from '../model/integers.ts'
import { maxPathComponents } from '../model/path.ts'
import { type Document, isPlainObject, type Numeric, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { type Place, type StagePlace, stageError } from './errors.ts'

/** @throws PetalError BadValue unless it is a whole number of 64 bits, and at least `least` */
export function wholeNumber(value: unknown, place: StagePlace, least: 0 | 1, what = 'the argument'): number {
  const whole = typeOf(value) === Type.number ? exactInt64(value as Numeric) : undefined
  if (whole !== undefined && whole >= least) return Number(whole)
  const shown = typeOf(value) === Type.number ? String(value) : describeType(value)
  throw stageError('BadValue', place, `${what} must be a whole number ≥ ${least}, not ${shown}`)
}

/** @throws PetalError BadValue unless it is an object with at least one key */
export function objectOf(value: unknown, place: StagePlace, what = 'the argument'): Document {
  if (isPlainObject(value) && Object.keys(value).length > 0) return value
  const found = isPlainObject(value) ? 'an empty one' : describeType(value)
  throw stageError('BadValue', place, `${what} must be an object, not ${found}`)
}

/** @throws PetalError FailedToParse for keys that the stage does not know */
export function checkKeys(spec: Document, known: readonly string[], place: StagePlace): void {
  const unknown = Object.keys(spec).find((key) => !known.includes(key))
  if (unknown !== undefined) throw stageError('FailedToParse', place, `there is no option '${unknown}'`)
}

/**
 * Returns the name of a field to be created. @throws PetalError BadValue for a dotted path or a name that starts with
 * `$`
 */
export function fieldName(value: unknown, place: StagePlace): string {
  if (typeof value !== 'string')
    throw stageError('BadValue', place, `a field name must be a string, not ${describeType(value)}`)
  if (value === '' || value.startsWith('$') || value.includes('.') || value === '__proto__') {
    const rule = "it must not be empty, contain '.', begin with '$' or be '__proto__'"
    throw stageError('BadValue', place, `'${value}' is not a valid field name: ${rule}`)
  }
  return value
}

/** Returns the size of `$sample`. @throws PetalError BadValue or FailedToParse */
export function sampleSize(spec: unknown, place: StagePlace): number {
  const sample = objectOf(spec, place)
  checkKeys(sample, ['size'], place)
  return wholeNumber(sample.size, place, 1, 'size')
}

/** Returns the field of `$count`. @throws PetalError BadValue */
export function countField(value: unknown, place: StagePlace): string {
  const name = fieldName(value, place)
  if (name === '_id') throw stageError('BadValue', place, 'the count field cannot be _id')
  return name
}

/** Checks that no path equals another or is a prefix of it. @throws PetalError BadValue */
export function checkDisjoint(paths: readonly string[], place: Place): void {
  const all = new Set<string>()
  for (const path of paths) {
    if (all.has(path)) throw stageError('BadValue', place, `'${path}' occurs twice`)
    all.add(path)
  }
  for (const path of paths) {
    for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
      const outer = path.slice(0, dot)
      if (all.has(outer))
        throw stageError('BadValue', place, `'${outer}' and '${path}' conflict: one is within the other`)
    }
  }
}

/** Returns the components of a dotted path without `$`. @throws PetalError BadValue */
export function pathOf(value: unknown, place: Place): readonly string[] {
  if (typeof value !== 'string')
    throw stageError('BadValue', place, `a path must be a string, not ${describeType(value)}`)
  const components = value.split('.')
  if (components.length > maxPathComponents) {
    const problem = `a path has at most ${maxPathComponents} components, not ${components.length}`
    throw stageError('BadValue', place, problem)
  }
  for (const component of components) {
    if (component !== '' && !component.startsWith('$') && component !== '__proto__') continue
    throw stageError('BadValue', place, `the path '${value}' has the invalid component '${component}'`)
  }
  return components
}
