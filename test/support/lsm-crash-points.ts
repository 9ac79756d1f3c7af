/**
 * Runs a store on a file system that can crash, and captures the disk before and after every call and after every
 * acknowledgement.
 */

import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { LsmLevel, type StoreOptions } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from './faulty-file-system.ts'
import { asLevelOperation, contentAsText, History, type PrefixBounds } from './lsm-history.ts'
import type { TraceStep } from './lsm-traces.ts'

export const location = '/data/db'

/** A moment of a trace at which a crash may happen. */
export interface CrashPoint extends PrefixBounds {
  /** With both the durable and the unsynced changes of that moment. */
  readonly disk: MemoryFileSystem
  /** The last acknowledged write, synced or not: it must survive when only the process dies. */
  readonly acknowledged: number
  readonly moment: string
}

export interface CrashedTrace {
  readonly history: History
  readonly points: readonly CrashPoint[]
}

/** Runs a trace on a new file system. */
export async function crashPointsOf(steps: readonly TraceStep[], options: StoreOptions): Promise<CrashedTrace> {
  const disk = new MemoryFileSystem()
  const history = new History()
  const points: CrashPoint[] = []
  let durable = 0
  let acknowledged = 0
  let moment = 'open'
  const crash = (): void => {
    points.push({ disk: disk.snapshot(), atLeast: durable, acknowledged, atMost: history.length, moment })
  }
  const fileSystem = new FaultyFileSystem(disk, {
    before: ({ operation, path }) => {
      moment = `before ${operation} of ${path}`
      crash()
    },
    after: ({ operation, path }) => {
      moment = `after ${operation} of ${path}`
      crash()
    }
  })
  const acknowledgedAfter = async (done: Promise<unknown>, write: number): Promise<void> => {
    await done
    acknowledged = Math.max(acknowledged, write)
    moment = `write ${write} is acknowledged`
    crash()
  }
  /** Everything written so far is durable once the promise resolves. */
  const durableAfter = async (done: Promise<unknown>, write = history.length): Promise<void> => {
    await done
    durable = Math.max(durable, write)
    moment = `write ${write} is durable`
    crash()
  }
  let db = await openStore(fileSystem, options)
  for (const step of steps) {
    switch (step.kind) {
      case 'write':
        await Promise.all(
          step.batches.map((operations) => {
            const write = history.begin(operations)
            const done = db.batch(operations.map(asLevelOperation), { sync: step.sync })
            const acknowledged = acknowledgedAfter(done, write)
            return step.sync ? durableAfter(acknowledged, write) : acknowledged
          })
        )
        break
      case 'flush':
        await durableAfter(db.flush())
        break
      case 'compact':
        await durableAfter(db.compactRange('', '~'))
        break
      case 'clear': {
        const { gte, lt } = step
        const cleared = [...history.content.keys()].filter((key) => key >= gte && key < lt)
        const write = history.beginPieces(cleared.map((key) => ({ key })))
        await acknowledgedAfter(db.clear({ gte, lt }), write)
        break
      }
      case 'reopen':
        await db.close()
        db = await openStore(fileSystem, options)
        // Recovery makes durable what it returns.
        await durableAfter(Promise.resolve())
        break
      case 'pause':
        for (let turn = 0; turn < step.turns; turn++) await nextTurn()
        break
      default:
        step satisfies never
    }
  }
  await db.close()
  crash()
  return { history, points }
}

/**
 * The crash points of a recovery.
 * @param prefix the prefix that it finds
 */
export async function crashPointsOfRecovery(
  crashed: MemoryFileSystem,
  options: StoreOptions,
  prefix: number
): Promise<readonly CrashPoint[]> {
  const points: CrashPoint[] = []
  const crash = (moment: string): void => {
    const disk = crashed.snapshot()
    points.push({ disk, atLeast: prefix, acknowledged: prefix, atMost: prefix, moment: `recovery, ${moment}` })
  }
  const fileSystem = new FaultyFileSystem(crashed, {
    before: ({ operation, path }) => crash(`before ${operation} of ${path}`),
    after: ({ operation, path }) => crash(`after ${operation} of ${path}`)
  })
  const db = await openStore(fileSystem, options)
  await db.close()
  return points
}

export async function openStore(
  fileSystem: FaultyFileSystem | MemoryFileSystem,
  options: StoreOptions,
  directory = location
): Promise<LsmLevel> {
  const db = new LsmLevel(directory, { ...options, fileSystem })
  await db.open()
  return db
}

export async function contentOf(db: LsmLevel): Promise<string> {
  return contentAsText(await db.iterator().all())
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
