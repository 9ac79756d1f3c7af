/** Enumerates the states that crashes leave during a trace, or during a recovery, and checks each one once. */
import type { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import type { StoreOptions } from '../../src/lsm/index.ts'
import { createRandom } from '../bloom/random.ts'
import { checkRecovery, fingerprint } from './lsm-crash-check.ts'
import { type CrashedTrace, type CrashPoint, crashPointsOf, crashPointsOfRecovery } from './lsm-crash-points.ts'
import type { History, PrefixBounds } from './lsm-history.ts'
import { randomTrace } from './lsm-traces.ts'

export interface CampaignOptions {
  readonly options: StoreOptions
  readonly seed: number
  /** Steps of the trace. Default 30. */
  readonly length?: number
  /** Maximum number of states checked per trace, spread over its calls. */
  readonly maxStates: number
  /** Random states tried at each call, besides the revealing ones. Default 2. */
  readonly randomStates?: number
}

export interface CampaignRecord {
  readonly calls: number
  /** Number of states that differ in some byte or name. */
  readonly states: number
}

export interface CampaignTotals extends CampaignRecord {
  readonly traces: number
}

/** One state in this many is closed before it is reopened; the others crash again. */
const closedEvery = 4

/** At one moment in this many, the death of the process alone is tried too. */
const killedEvery = 4

/** @throws when a check fails, with the seed, the moment and the state */
export async function runCrashCampaign(campaign: CampaignOptions): Promise<CampaignRecord> {
  const { options, seed, length = 30 } = campaign
  const trace = await crashPointsOf(randomTrace(length, createRandom(seed)), options)
  return { calls: trace.points.length, states: await checkAll(trace, campaign) }
}

/** Runs traces with consecutive seeds until `states` states have been checked. */
export async function runCrashCampaigns(campaign: CampaignOptions, states: number): Promise<CampaignTotals> {
  const totals = { traces: 0, calls: 0, states: 0 }
  while (totals.states < states) {
    const maxStates = Math.min(campaign.maxStates, states - totals.states)
    const record = await runCrashCampaign({ ...campaign, maxStates, seed: campaign.seed + totals.traces })
    totals.traces++
    totals.calls += record.calls
    totals.states += record.states
  }
  return totals
}

/**
 * Crashes while the store recovers from a crash: every state they leave recovers to what the first recovery would have
 * found.
 * @param campaign `maxStates` is per recovery
 * @param recoveries number of states of the trace that are recovered
 */
export async function runNestedCampaign(campaign: CampaignOptions, recoveries: number): Promise<CampaignRecord> {
  const { options, seed, length = 30 } = campaign
  const random = createRandom(seed)
  const { history, points } = await crashPointsOf(randomTrace(length, random), options)
  let calls = 0
  let states = 0
  for (let i = 0; i < recoveries; i++) {
    const point = points[random.below(points.length)]!
    const candidates = [...point.disk.crashStates()]
    const first = candidates[random.below(candidates.length)]!
    const prefix = await checkRecovery(first.snapshot(), options, history, point, 'crash')
    const nested = await crashPointsOfRecovery(first, options, prefix)
    calls += nested.length
    states += await checkAll({ history, points: nested }, campaign)
  }
  return { calls, states }
}

async function checkAll({ history, points }: CrashedTrace, campaign: CampaignOptions): Promise<number> {
  const { options, seed, maxStates } = campaign
  /** The prefix found in each state: it must be within the bounds of every moment that may leave that state. */
  const known = new Map<string, number>()
  for (const { disk, moment, ...bounds } of spread(points, campaign)) {
    const where = `seed ${seed}, ${moment}, ${bounds.atLeast}..${bounds.atMost}`
    const mark = `${bounds.isDurable} ${fingerprint(disk)}`
    const prefix = known.get(mark)
    if (prefix !== undefined) {
      checkBounds(history, prefix, bounds, where)
      continue
    }
    const end = known.size % closedEvery === 0 ? 'close' : 'crash'
    try {
      known.set(mark, await checkRecovery(disk, options, history, bounds, end))
    } catch (error) {
      const { stack, cause } = error as Error
      throw new Error(`${where}: ${stack}${cause === undefined ? '' : `\ncaused by ${String(cause)}`}`, {
        cause: error
      })
    }
    if (known.size >= maxStates) break
  }
  return known.size
}

/** Checks the bounds of a known state; other prefixes may have the same content. */
function checkBounds(history: History, prefix: number, bounds: PrefixBounds, where: string): void {
  if (history.prefixOf(history.stateAfter(prefix), bounds) === undefined) {
    throw new Error(`${where}: found prefix ${prefix} before`)
  }
}

interface State extends PrefixBounds {
  readonly disk: MemoryFileSystem
  readonly moment: string
  /** False when only the process died: unsynced bytes are still in the system's cache. */
  readonly isDurable: boolean
}

/** Yields one state of each moment in turn: a limit then cuts off the least revealing states, not the last calls. */
function* spread(points: readonly CrashPoint[], campaign: CampaignOptions): Generator<State> {
  const { seed, randomStates = 2 } = campaign
  const generator = createRandom(seed)
  const random = (): number => generator.below(2 ** 32) / 2 ** 32
  for (const [i, { disk, moment, acknowledged, atMost }] of points.entries()) {
    if ((seed + i) % killedEvery !== 0) continue
    yield { disk: disk.snapshot(), moment: `${moment}, killed`, isDurable: false, atLeast: acknowledged, atMost }
  }
  let sources = points.map((point) => ({ point, states: point.disk.crashStates()[Symbol.iterator]() }))
  while (sources.length > 0) {
    const left: typeof sources = []
    for (const source of sources) {
      const { done, value } = source.states.next()
      if (done === true) continue
      left.push(source)
      yield afterCrash(source.point, value)
    }
    sources = left
  }
  for (let i = 0; i < randomStates; i++) {
    for (const point of points) yield afterCrash(point, point.disk.crashClone({ random }))
  }
}

function afterCrash({ moment, atLeast, atMost }: CrashPoint, disk: MemoryFileSystem): State {
  return { disk, moment: `${moment}, ${disk.origin}`, isDurable: true, atLeast, atMost }
}
