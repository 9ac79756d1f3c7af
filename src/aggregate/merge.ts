/** `$merge`: compiles how output documents are matched with those of a collection, and what happens to both. */
import { cloneDocument } from '../model/clone.ts'
import { splitPath } from '../model/path.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { checkKeys, objectOf, pathOf } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import { ownValueAt } from './field-path.ts'
import { variablesOf } from './foreign.ts'
import type { Merge, WhenMatched } from './stage.ts'
import { targetOf } from './target.ts'
import { compileChange } from './update-pipeline.ts'

const wordsWhenMatched: Readonly<Record<string, WhenMatched>> = {
  replace: { kind: 'replace', change: (_, document) => document },
  merge: { kind: 'update', change: merged },
  keepExisting: { kind: 'keep' },
  fail: { kind: 'fail' }
}
const wordsWhenNotMatched: Readonly<Record<string, Merge['whenNotMatched']>> = {
  insert: 'insert',
  discard: 'discard',
  fail: 'fail'
}

export function compileMerge(
  spec: unknown,
  place: StagePlace,
  expressions: Expressions
): { readonly collection: string; readonly merge: Merge } {
  const merge = typeof spec === 'string' ? { into: spec } : objectOf(spec, place)
  checkKeys(merge, ['into', 'on', 'let', 'whenMatched', 'whenNotMatched'], place)
  const { into, on = '_id', let: variables, whenMatched = 'merge', whenNotMatched = 'insert' } = merge as Document
  const paths = pathsOf(on, place)
  const matched = Array.isArray(whenMatched)
    ? changeBy(whenMatched, variables, place, expressions)
    : wordOf('whenMatched', whenMatched, wordsWhenMatched, place, ' or a pipeline')
  const notMatched = wordOf('whenNotMatched', whenNotMatched, wordsWhenNotMatched, place)
  if (variables !== undefined && !Array.isArray(whenMatched)) {
    throw stageError('BadValue', place, 'let requires a whenMatched that is a pipeline')
  }
  if ((matched.kind === 'keep' || matched.kind === 'fail') && notMatched !== 'insert') {
    const problem = `whenMatched: '${String(whenMatched)}' requires whenNotMatched: 'insert', not '${notMatched}'`
    throw stageError('BadValue', place, problem)
  }
  return {
    collection: targetOf(into, place),
    merge: { on: paths, valuesOn: valuesOn(paths, place), whenMatched: matched, whenNotMatched: notMatched }
  }
}

/** Like `$set`: existing fields keep their positions, and new ones are appended in the order of their names. */
function merged(target: Document, document: Document): Document {
  const result = { ...target }
  const added: string[] = []
  for (const key of Object.keys(document)) {
    if (Object.hasOwn(target, key)) result[key] = document[key]
    else added.push(key)
  }
  for (const key of added.sort()) result[key] = document[key]
  return result
}

function changeBy(
  pipeline: readonly unknown[],
  variables: unknown,
  place: StagePlace,
  expressions: Expressions
): WhenMatched {
  const { new: itself = '$$ROOT', ...others } = variables === undefined ? {} : objectOfVariables(variables, place)
  if (itself !== '$$ROOT')
    throw stageError('BadValue', place, "let cannot define 'new', which is the incoming document")
  const defined = variablesOf({ ...others, new: '$$ROOT' }, place, expressions)
  const names = defined.map(({ name }) => name)
  const within = `${place.stage}.whenMatched`
  const changed = expressions.withVariables(names, () => compileChange(pipeline, expressions, within))
  const change = (target: Document, document: Document): Document => {
    const restore = expressions.assign(defined.map(({ name, value }) => [name, value(document)]))
    try {
      return cloneDocument(changed(target))
    } finally {
      restore()
    }
  }
  return { kind: 'update', change }
}

function objectOfVariables(variables: unknown, place: StagePlace): Document {
  if (isPlainObject(variables)) return variables
  throw stageError('BadValue', place, `let takes an object, not ${describeType(variables)}`)
}

function pathsOf(on: unknown, place: StagePlace): readonly string[] {
  const paths = (Array.isArray(on) ? (on as readonly unknown[]) : [on]).map((path) => pathOf(path, place).join('.'))
  if (paths.length === 0) throw stageError('BadValue', place, 'on must name at least one field')
  const twice = paths.find((path, i) => paths.indexOf(path) !== i)
  if (twice !== undefined) throw stageError('BadValue', place, `on names '${twice}' twice`)
  return paths
}

/** Looks up the meaning of a word. @param orElse alternative to the words, for the error message */
function wordOf<T>(
  option: string,
  word: unknown,
  words: Readonly<Record<string, T>>,
  place: StagePlace,
  orElse = ''
): T {
  if (typeof word === 'string' && Object.hasOwn(words, word)) return words[word] as T
  const known = Object.keys(words).map((each) => `'${each}'`)
  const found = typeof word === 'string' ? `'${word}'` : describeType(word)
  throw stageError('BadValue', place, `${option} must be one of ${known.join(', ')}${orElse}, not ${found}`)
}

/** Returns undefined for a document without an `_id`, which will get a new one. */
function valuesOn(paths: readonly string[], place: StagePlace): Merge['valuesOn'] {
  const fields = paths.map((path) => ({ path, components: splitPath(path) }))
  return (document) => {
    let isNew = false
    const values = fields.map(({ path, components }) => {
      const value = ownValueAt(document, components)
      if (value === undefined && path === '_id') isNew = true
      else if (value === undefined || value === null || Array.isArray(value)) {
        const found = value === undefined ? 'missing' : describeType(value)
        throw stageError('BadValue', place, `documents are matched on '${path}', which must not be ${found}`)
      }
      return value
    })
    return isNew ? undefined : values
  }
}
