/**
 * Reads a log of queries: newline-delimited Extended JSON. Each line is a filter, or an object with a `filter`,
 * optionally a `count` of how often it was run, and any other fields.
 */
import { FindExpressions } from '../docstore/read/expressions.ts'
import type { Filter } from '../docstore/types/filter.ts'
import { type ErrorName, PetalError } from '../model/errors.ts'
import { parseJson } from '../model/extended-json.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import { Source } from './source.ts'

/** @throws PetalError naming the line: FailedToParse, or what is wrong with its filter */
export async function readQueryLog(path: string, signal: AbortSignal): Promise<Map<Document, number>> {
  const source = await Source.open(path, signal)
  const queries = new Map<Document, number>()
  for await (const { line, number } of source.lines()) {
    const place = `${source.name} line ${number}`
    const { filter, count } = entryOf(line, place)
    // tune() has only the filters, and cannot say on which line a wrong one is.
    naming(place, () => new FindExpressions({}).filter(filter as Filter))
    queries.set(filter, count)
  }
  return queries
}

function entryOf(line: string, place: string): { readonly filter: Document; readonly count: number } {
  const entry = naming(place, () => parseJson(line), 'FailedToParse')
  if (!isPlainObject(entry)) throw new PetalError('FailedToParse', `${place}: expected a filter object`)
  if (!isPlainObject(entry.filter)) return { filter: entry, count: 1 }
  const { filter, count = 1 } = entry
  if (typeof count !== 'number' || !(count > 0)) {
    throw new PetalError('FailedToParse', `${place}: 'count' must be a positive number`)
  }
  return { filter, count }
}

/** Runs a task whose errors are about what stands at `place`. @param codeName of the error; by default its own */
function naming<T>(place: string, task: () => T, codeName?: ErrorName): T {
  try {
    return task()
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    throw new PetalError(codeName ?? error.codeName, `${place}: ${error.message}`, { cause: error })
  }
}
