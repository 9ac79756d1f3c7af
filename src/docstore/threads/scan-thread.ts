/** Worker thread that decides about parts of scans; see read/parallel/. */
import { parentPort } from 'node:worker_threads'
import { nodeFileSystem } from '../../lsm/fs/node-file-system.ts'
import { lowerThreadPriority } from '../../lsm/fs/thread-priority.ts'
import type { DecidedPart, PortableResult, ScanMessage, ScanReply } from '../read/parallel/messages.ts'
import { PartScan } from '../read/parallel/part-scan.ts'
import { portable } from '../read/parallel/portable.ts'

/** Nice value. The main thread serves the event loop, and does not wait long for a part. */
lowerThreadPriority(10)

let scan: PartScan | undefined
let ending = new AbortController()
/** One message is answered after the other. */
let answered: Promise<void> = Promise.resolve()

parentPort?.on('message', (message: ScanMessage) => {
  if (message.kind === 'close') ending.abort()
  answered = answered.then(() => answer(message))
})

async function answer(message: ScanMessage): Promise<void> {
  try {
    parentPort?.postMessage(await replyTo(message))
  } catch {
    parentPort?.postMessage({ kind: 'failed' } satisfies ScanReply)
  }
}

async function replyTo(message: ScanMessage): Promise<ScanReply> {
  switch (message.kind) {
    case 'open':
      scan = await PartScan.open(message.request, nodeFileSystem, ending.signal)
      return { kind: 'done' }
    case 'decide':
      if (scan === undefined) return { kind: 'failed' }
      return { kind: 'decided', part: packed(await scan.decide(message.part)) }
    case 'close':
      scan?.close()
      scan = undefined
      ending = new AbortController()
      return { kind: 'done' }
  }
}

/** @throws Error for functions, of which no document has any */
function packed({ result, costs }: DecidedPart): DecidedPart<PortableResult> {
  if (result.kind === 'found') return { result, costs }
  const partial = portable(result.partial)
  if (partial === undefined) throw new Error('A result has functions')
  return { result: { kind: 'collected', partial }, costs }
}
