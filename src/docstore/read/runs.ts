/** Reads documents run by run, from a reader or in place; each run is to be used up before the next is requested. */
import { nextTurn } from '../../model/time-slice.ts'
import type { DocumentReader } from './document-reader.ts'
import type { DocumentScan } from './document-scan.ts'

/** Yields what `read` makes of each run of a reader, and closes it. */
export async function* runsOfReader<T>(
  reader: DocumentReader,
  read: (entries: Awaited<ReturnType<DocumentReader['next']>>) => Iterable<T>
): AsyncGenerator<Iterable<T>> {
  try {
    for (let run = await reader.next(); run.length > 0; run = await reader.next()) yield read(run)
  } finally {
    await reader.close()
  }
}

/** Like runsOfReader(), for a store whose records can be read in place: all of them in one run. */
export async function* runsOfScan<T>(
  scan: DocumentScan,
  read: (scan: DocumentScan) => Iterable<T>
): AsyncGenerator<Iterable<T>> {
  try {
    while (scan.prepareSome()) await nextTurn()
    yield read(scan)
  } finally {
    await scan.close()
  }
}
