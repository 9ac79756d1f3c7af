/**
 * The threads of one read: each is handed parts, and decides about one after the other.
 *
 * Invariants:
 * 1. What a thread could not decide about is left to the caller, who will see the reason.
 * 2. The store keeps what the threads read until they have stopped.
 */
import { transferListOf } from '../../../lsm/thread-view/view-data.ts'
import type { SharedDocuments } from '../../store/collection-store.ts'
import { putBackScanThread, type ScanThread, takeScanThread } from '../../threads/scan-threads.ts'
import type { ReadView } from '../read-view.ts'
import type { DecidedPart, PartRequest, PortableRead, PortableResult } from './messages.ts'
import { unpack } from './portable.ts'

/** Parts that a thread is handed ahead, so that it does not wait while this thread is busy. */
const maxQueued = 3

/** Milliseconds that a thread has to end its work: closing the database waits for it. */
const maxClosing = 1000

/** Milliseconds after which threads without work are free for other reads: whoever takes the results is slow, or has stopped. */
const maxIdle = 500

/** A part that a thread decides about. */
export interface Decision {
  /** Resolves, without a result, when it is known. */
  readonly settled: Promise<void>
  isSettled: boolean
  /** undefined if the thread could not decide. */
  result: DecidedPart | undefined
}

interface Helper {
  readonly thread: ScanThread
  readonly shared: SharedDocuments
  isReady: boolean
  /** Answers that it owes. */
  queued: number
}

export class ParallelScan {
  readonly #helpers: Helper[] = []
  /** Started again whenever a thread gets or completes work. */
  readonly #idling = setTimeout(() => this.#giveBack(), maxIdle).unref()

  /** @returns undefined if there are no threads */
  static begin(view: ReadView, read: PortableRead): ParallelScan | undefined {
    const scan = new ParallelScan()
    try {
      while (scan.#add(view, read)) {
        // As many as there are.
      }
    } catch (error) {
      void scan.close()
      throw error
    }
    if (scan.threads > 0) return scan
    void scan.close()
    return undefined
  }

  /** None once the scan is closed, which it is when they have had no work for a while. */
  get threads(): number {
    return this.#helpers.length
  }

  /** Whether decide() would not keep the part waiting for long. */
  get wantsPart(): boolean {
    return this.#helpers.some(isIdle)
  }

  /** REQUIRES: wantsPart */
  decide(part: PartRequest): Decision {
    const helper = this.#helpers.filter(isIdle).reduce((a, b) => (b.queued < a.queued ? b : a))
    this.#countWork(helper, 1)
    const end = (result: DecidedPart | undefined): void => {
      this.#countWork(helper, -1)
      decision.isSettled = true
      decision.result = result
    }
    const transfer = part.ordinals === undefined ? [] : [part.ordinals.buffer as ArrayBuffer]
    const settled = helper.thread.request({ kind: 'decide', part }, transfer).then(
      (reply) => end(reply.kind === 'decided' ? unpacked(reply.part) : undefined),
      () => end(undefined)
    )
    const decision: Decision = { settled, isSettled: false, result: undefined }
    return decision
  }

  /** Ends what the threads are doing. */
  async close(): Promise<void> {
    clearTimeout(this.#idling)
    await Promise.all(this.#helpers.splice(0).map(dismiss))
  }

  #giveBack(): void {
    if (this.#helpers.every(({ queued }) => queued === 0)) void this.close()
  }

  #countWork(helper: Helper, change: 1 | -1): void {
    helper.queued += change
    // Once closed, the timer would start again.
    if (this.#helpers.includes(helper)) this.#idling.refresh()
  }

  /** Opens the view in one more thread; false if there is none. */
  #add(view: ReadView, read: PortableRead): boolean {
    const thread = takeScanThread(view.scanThreads)
    if (thread === undefined) return false
    let shared: SharedDocuments
    try {
      shared = view.shareDocuments()
    } catch (error) {
      putBackScanThread(thread)
      throw error
    }
    const helper: Helper = { thread, shared, isReady: false, queued: 0 }
    this.#helpers.push(helper)
    this.#countWork(helper, 1)
    const { data } = shared.view
    thread.request({ kind: 'open', request: { view: data, docs: shared.docs, read } }, transferListOf(data)).then(
      ({ kind }) => {
        helper.isReady = kind === 'done'
        this.#countWork(helper, -1)
      },
      // It is dead, and stays without work.
      () => this.#countWork(helper, -1)
    )
    return true
  }
}

function unpacked({ result, costs }: DecidedPart<PortableResult>): DecidedPart {
  return { result: result.kind === 'found' ? result : { kind: 'collected', partial: unpack(result.partial) }, costs }
}

function isIdle({ isReady, queued, thread }: Helper): boolean {
  return isReady && queued < maxQueued && !thread.isDead
}

async function dismiss({ thread, shared }: Helper): Promise<void> {
  try {
    await thread.requestWithin(maxClosing, { kind: 'close' })
  } catch {
    // It is dead.
  }
  shared.view.release()
  putBackScanThread(thread)
}
