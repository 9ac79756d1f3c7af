/** A scan in a thread of its own, which decides about one part after the other. */
import type { FileSystem } from '../../../lsm/fs/file-system.ts'
import { ThreadView } from '../../../lsm/thread-view/thread-view.ts'
import { DocumentCache } from '../../documents/document-cache.ts'
import { DocumentCacheBudget } from '../../documents/document-cache-budget.ts'
import { type Area, areaOf } from '../../store/layout.ts'
import { scanDocuments } from '../../store/thread-documents.ts'
import { Control } from '../control.ts'
import type { DocumentRange } from '../document-reader.ts'
import type { DocumentScan } from '../document-scan.ts'
import { finish } from '../steps.ts'
import { compileTask } from './compile-task.ts'
import { Decider } from './decider.ts'
import type { DecidedPart, PartRequest, PortableRead, ScanRequest } from './messages.ts'

export class PartScan {
  readonly #view: ThreadView
  readonly #decider: Decider

  private constructor(view: ThreadView, decider: Decider) {
    this.#view = view
    this.#decider = decider
  }

  /** @throws AbortedError */
  static async open(
    { view: data, docs, read }: ScanRequest,
    fileSystem: FileSystem,
    signal: AbortSignal
  ): Promise<PartScan> {
    const control = controlOf(read, signal)
    const { filter, fields, begin } = await compileTask(read, control)
    const view = await ThreadView.open(data, fileSystem)
    return new PartScan(view, new Decider({ control, fields, view: new PartView(view, areaOf(docs)) }, filter, begin))
  }

  /** @throws AbortedError, or what the filter throws, or the store */
  decide(part: PartRequest): Promise<DecidedPart> {
    return finish(this.#decider.decide(part))
  }

  close(): void {
    this.#view.close()
  }
}

/**
 * The read's signal, and that its transaction was interrupted, are not known here: they end the scan. The time that is left for
 * the read is, because a loop in an expression keeps messages waiting.
 */
function controlOf({ remainingMilliseconds }: PortableRead, signal: AbortSignal): Control {
  if (remainingMilliseconds === undefined) return new Control({ signal })
  return new Control({ signal, maxTimeMS: Math.max(1, Math.ceil(remainingMilliseconds)) })
}

/** What a scan reads in place of a collection's read view. */
class PartView {
  readonly cache = new DocumentCache(new DocumentCacheBudget(0))
  readonly cacheToFill = undefined
  readonly #view: ThreadView
  readonly #docs: Area

  constructor(view: ThreadView, docs: Area) {
    this.#view = view
    this.#docs = docs
  }

  scan(range: DocumentRange): DocumentScan {
    return scanDocuments(this.#view, this.#docs, range)
  }

  closeReader(reader: { close(): Promise<void> }): void {
    void reader.close()
  }

  assertOpen(): void {}

  /** Nobody asks a match of a part for its record. */
  record(): undefined {
    return undefined
  }
}
