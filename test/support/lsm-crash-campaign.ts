/** Enumerates what crashes leave of a trace, and of a recovery, and checks each state once. */
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
  /** States checked of one trace, at most; spread over its calls. */
  readonly maxStates: number
  /** Random states tried at each call, beside the telling ones. Default 2. */
  readonly randomStates?: number
}

export interface CampaignRecord {
  readonly calls: number
  /** States that differ in some byte or name. */
  readonly states: number
}

export interface CampaignTotals extends CampaignRecord {
  readonly traces: number
}

/** One state in so many is closed before it is opened again; the others crash once more. */
const closedEvery = 4

/** At one moment in so many the process dies alone. */
const killedEvery = 4

/** @throws what does not hold, with the seed, the moment and the state it was found in */
export async function runCrashCampaign(campaign: CampaignOptions): Promise<CampaignRecord> {
  const { options, seed, length = 30 } = campaign
  const trace = await crashPointsOf(randomTrace(length, createRandom(seed)), options)
  return { calls: trace.points.length, states: await checkAll(trace, campaign) }
}

/** Traces of one seed after another, until so many states were checked. */
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
 * Crashes that come while the store recovers from a crash: whatever they leave recovers to what the first recovery
 * would have found.
 * @param campaign `maxStates` is per recovery
 * @param recoveries how many states of the trace are recovered
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
  /** What was found in a state: it must fit the bounds of every moment that may leave it. */
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

/** The state's content is the same; other prefixes may have it too. */
function checkBounds(history: History, prefix: number, bounds: PrefixBounds, where: string): void {
  if (history.prefixOf(history.stateAfter(prefix), bounds) === undefined) {
    throw new Error(`${where}: found prefix ${prefix} before`)
  }
}

interface State extends PrefixBounds {
  readonly disk: MemoryFileSystem
  readonly moment: string
  /** False when the process died and the system did not: what was not synced is still in its cache. */
  readonly isDurable: boolean
}

/** All moments get their turn before any gets another: a limit cuts off the least telling states, not the last calls. */
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
