/** Reads a collection's documents in another thread than the store's. */
import { ByteScan } from '../../lsm/read/byte-scan.ts'
import type { ThreadView } from '../../lsm/thread-view/thread-view.ts'
import type { DocumentRange } from '../read/document-reader.ts'
import { DocumentScan } from '../read/document-scan.ts'
import type { Area } from './layout.ts'

/** Ascending; to be closed by the caller. */
export function scanDocuments(view: ThreadView, docs: Area, { from, to }: DocumentRange): DocumentScan {
  const scan = new ByteScan(nobody, view, { gte: docs.ordinalKey(from), lt: docs.ordinalKey(to) })
  return new DocumentScan(scan, (key, start, end) => docs.ordinalOf(key, start, end))
}

/** Nobody else closes the scans. */
const nobody = { attachResource: () => {}, detachResource: () => {} }
