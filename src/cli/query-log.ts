/**
 * Reads a log of queries: newline-delimited Extended JSON. Each line is a filter, or an object with a `filter`,
 * optionally a `count` of how often it was run, and any other fields.
 */
import { FindExpressions } from '../docstore/read/expressions.ts'
import type { Filter } from '../docstore/request-types.ts'
import { PetalError } from '../model/errors.ts'
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
    checkFilter(filter, place)
    queries.set(filter, count)
  }
  return queries
}

function entryOf(line: string, place: string): { readonly filter: Document; readonly count: number } {
  const entry = parsed(line, place)
  if (!isPlainObject(entry)) throw new PetalError('FailedToParse', `${place}: expected a filter object`)
  if (!isPlainObject(entry.filter)) return { filter: entry, count: 1 }
  const { filter, count = 1 } = entry
  if (typeof count !== 'number' || !(count > 0)) {
    throw new PetalError('FailedToParse', `${place}: 'count' must be a positive number`)
  }
  return { filter, count }
}

function parsed(line: string, place: string): unknown {
  try {
    return parseJson(line)
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    throw new PetalError('FailedToParse', `${place}: ${error.message}`, { cause: error })
  }
}

/** Checks a filter early: tune() has only the filters, and cannot say on which line a wrong one is. */
function checkFilter(filter: Document, place: string): void {
  try {
    new FindExpressions({}).filter(filter as Filter)
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    throw new PetalError(error.codeName, `${place}: ${error.message}`, { cause: error })
  }
}
