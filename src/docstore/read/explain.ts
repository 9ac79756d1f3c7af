/** explain() of a find: MongoDB's shape, plus details of the index. */

import { isRegExp } from '../../model/types.ts'
import { fromStore } from '../errors.ts'
import { describeAccess } from '../indexes/describe-access.ts'
import type { FindOptions } from '../options.ts'
import { Control } from './control.ts'
import { describeBounds } from './describe-bounds.ts'
import type { Execution } from './execution.ts'
import {
  beginFind,
  type CompiledFind,
  compileAndOpen,
  compileFind,
  matchesOf,
  resultWithoutCollection
} from './find.ts'
import { Meter } from './meter.ts'
import type { Plan } from './planner.ts'
import type { Readable } from './sliced-cursor.ts'
import { advance } from './steps.ts'

/** One stage of the plan; its input is the nested stage. */
export interface PlanStage {
  /**
   * `IDHACK`, `IXSCAN`, `BLOOM` or `COLLSCAN` at the bottom; `FETCH`, `SORT`, `SKIP`, `LIMIT`, `PROJECTION`, `EOF`
   * above.
   */
  readonly stage: string
  readonly inputStage?: PlanStage
  readonly [detail: string]: unknown
}

/**
 * How a find was executed and what it cost. `queryPlanner` and `executionStats` are as in MongoDB's explain, for tools
 * that understand it; `index` reports what the bounds did. docs/filters.md goes through an example line by line.
 */
export interface Explanation {
  readonly queryPlanner: {
    /** Name of the collection. */
    readonly namespace: string
    /** The plan, outermost stage first. */
    readonly winningPlan: PlanStage
    readonly rejectedPlans: readonly PlanStage[]
  }
  readonly executionStats: {
    readonly executionSuccess: true
    /** Documents returned, after skip and limit. */
    readonly nReturned: number
    /** Rounded; `index.milliseconds` is not. */
    readonly executionTimeMillis: number
    /** Candidates, or keys of a declared index; 0 for a collection scan. */
    readonly totalKeysExamined: number
    readonly totalDocsExamined: number
  }
  readonly index: {
    /** The bounds expression; `MAYBE x` can exclude documents but not prove that they match. */
    readonly bounds: string
    /** Parts of the filter that cannot be expressed as bounds. */
    readonly unbounded: readonly string[]
    /** Segments of the index, and how many of them were skipped. */
    readonly segments: { readonly total: number; readonly pruned: number }
    /**
     * Tables of the store that hold documents of the collection, and how many its filters ruled out (a lower bound); 0
     * without filters.
     */
    readonly tables: { readonly total: number; readonly pruned: number }
    /** Index rows that were combined, and their bytes. */
    readonly rowsRead: number
    readonly bytesTouched: number
    /** Documents in the upper bound: those the index cannot exclude. */
    readonly candidates: number
    /** Documents in the lower bound: returned without testing the filter. */
    readonly certain: number
    /** Candidates that were tested and match. */
    readonly confirmed: number
    readonly falsePositives: number
    /** False positives per tested candidate; 0 if none was tested. */
    readonly falsePositiveRate: number
    readonly documentsFetched: number
    /** Total wall-clock time. */
    readonly milliseconds: number
  }
}

/** Runs the find to its end and explains it. */
export async function explainFind(readable: Readable, filter: unknown, options: FindOptions): Promise<Explanation> {
  const [find, collection] = await compileAndOpen(readable, () => compileFind(filter, options))
  if (collection === undefined) {
    return resultWithoutCollection(find, explanation('', { stage: 'EOF' }, find, new Meter(), 0, 0))
  }
  const control = new Control(options)
  const meter = new Meter()
  const execution = beginFind(collection, find, control, meter, find.used)
  try {
    let matched = 0
    const matches = matchesOf(execution, find)
    for (let slice = await advance(matches); slice !== undefined; slice = await advance(matches))
      matched += slice.length
    const returned = Math.min(find.limit, Math.max(0, matched - (find.skip - meter.passed)))
    return explainExecution(collection.name, filter, { find, execution, returned }, control.elapsedMilliseconds)
  } catch (error) {
    throw fromStore(error)
  } finally {
    execution.view.close()
  }
}

/** Explains a find that has run. */
export function explainExecution(
  collection: string,
  filter: unknown,
  { find, execution, returned }: { find: CompiledFind; execution: Execution; returned: number },
  milliseconds: number
): Explanation {
  const { meter, view } = execution
  meter.tables = view.tables.total
  meter.tablesPruned = view.tables.pruned
  const tree = stages(find, describeFilter(filter), meter)
  return explanation(collection, tree, find, meter, returned, milliseconds)
}

function explanation(
  namespace: string,
  winningPlan: PlanStage,
  { filter }: CompiledFind,
  meter: Meter,
  nReturned: number,
  milliseconds: number
): Explanation {
  return {
    queryPlanner: { namespace, winningPlan, rejectedPlans: [] },
    executionStats: {
      executionSuccess: true,
      nReturned,
      executionTimeMillis: Math.round(milliseconds),
      totalKeysExamined: keysExamined(winningPlan, meter),
      totalDocsExamined: meter.documentsFetched
    },
    index: {
      bounds: describeBounds(filter.bounds),
      unbounded: filter.unbounded,
      segments: { total: meter.segments, pruned: meter.segmentsPruned },
      tables: { total: meter.tables, pruned: meter.tablesPruned },
      rowsRead: meter.rowsRead,
      bytesTouched: meter.bytesTouched,
      candidates: meter.candidates,
      certain: meter.certain,
      confirmed: meter.confirmed,
      falsePositives: meter.falsePositives,
      falsePositiveRate: meter.tested === 0 ? 0 : meter.falsePositives / meter.tested,
      documentsFetched: meter.documentsFetched,
      milliseconds
    }
  }
}

function keysExamined({ inputStage, stage }: PlanStage, meter: Meter): number {
  if (inputStage !== undefined) return keysExamined(inputStage, meter)
  if (stage === 'COLLSCAN') return 0
  return meter.access === undefined ? meter.candidates : meter.keysExamined
}

/** Returns the plan as a tree, outermost stage first. */
function stages(find: CompiledFind, filter: string, { access, orderedBy, passed, threads }: Meter): PlanStage {
  const inputStage = access === undefined ? source(find.plan, orderedBy) : describeAccess(access)
  let tree: PlanStage = { stage: 'FETCH', filter, ...(threads > 0 && { threads }), inputStage }
  if (find.sort.keys.length > 0 && !access?.isOrdered) {
    const sortPattern = Object.fromEntries(find.sort.keys.map(({ path, direction }) => [path, direction]))
    tree = { stage: 'SORT', sortPattern, ...(orderedBy !== undefined && { orderedBy }), inputStage: tree }
  }
  if (find.skip > 0) tree = { stage: 'SKIP', skipAmount: find.skip, counted: passed, inputStage: tree }
  if (Number.isFinite(find.limit)) tree = { stage: 'LIMIT', limitAmount: find.limit, inputStage: tree }
  if (find.project !== undefined) tree = { stage: 'PROJECTION', inputStage: tree }
  return tree
}

function source(plan: Plan, orderedBy: string | undefined): PlanStage {
  const direction = plan.reverse ? 'backward' : 'forward'
  switch (plan.kind) {
    case 'ids':
      return { stage: 'IDHACK', ids: plan.ids.length, direction }
    case 'index':
      return { stage: 'BLOOM', bounds: describeBounds(plan.bounds), direction }
    case 'scan':
      // Reads by ranges of the sort order, even though the filter has no bounds.
      if (orderedBy !== undefined) return { stage: 'BLOOM', bounds: describeBounds(plan.bounds), direction }
      return { stage: 'COLLSCAN', direction }
  }
}

/** Returns the filter as text. Functions and regular expressions have no JSON. */
function describeFilter(filter: unknown): string {
  return (
    JSON.stringify(filter ?? {}, (_key, value: unknown) => {
      if (typeof value === 'bigint') return `${value}n`
      return typeof value === 'function' || isRegExp(value) ? String(value) : value
    }) ?? '{}'
  )
}
