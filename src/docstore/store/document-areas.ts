/** Which collections have documents, whatever the catalog says. */
import type { Store } from '../options.ts'
import { Area } from './layout.ts'

const docsPattern = /^([1-9]\d{0,14})\.docs$/
/** Matches the beginning of a document's key. */
export const documentKey = /![1-9]\d{0,14}\.docs!\0/

/** Yields the numbers of collections that have documents, by looking up the first key of every area. */
export async function* documentAreas(store: Store): AsyncGenerator<number, void> {
  const decoder = new TextDecoder()
  for (let from: Uint8Array = new Uint8Array(0); ; ) {
    const [key] = await store.keys<Uint8Array>({ gte: from, keyEncoding: 'view', limit: 1 }).all()
    const name = key && /^!([^!]+)!/.exec(decoder.decode(key))?.[1]
    if (name === undefined) return
    const number = docsPattern.exec(name)?.[1]
    if (number !== undefined) yield Number(number)
    from = new Area(name).end
  }
}
