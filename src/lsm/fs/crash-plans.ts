/**
 * Selects which fates of unsynced operations to try after a crash: pure policy, carried out by the file system.
 *
 * Any subset may survive a crash, so n operations have 2ⁿ states and more. Bugs found in databases show with few
 * operations out of place: a prefix, one operation or one file's missing, one alone, names without bytes, one write
 * torn. Those are enumerated; the rest is sampled.
 */
import type { Fate, Fates, PendingOperation, WriteOperation } from './memory-nodes.ts'

const sectorBytes = 512
/** Maximum number of places at which one write is torn. */
const maxTears = 12

export interface CrashPlan {
  readonly description: string
  readonly fates: Fates
}

type Choice = (operation: PendingOperation, index: number) => Fate

/** The unsynced operations of one file or directory, in order. */
export type PendingGroup = readonly PendingOperation[]

/** Distinct plans, the most revealing ones first. */
export function* crashPlans(groups: readonly PendingGroup[]): Generator<CrashPlan> {
  const seen = new Set<string>()
  const pending = groups.flat().sort((a, b) => a.order - b.order)
  for (const [description, choice] of choices(pending, groups)) {
    const fates = pending.map(choice)
    const key = fates.map((fate) => JSON.stringify(fate)).join()
    if (seen.has(key)) continue
    seen.add(key)
    yield { description, fates: new Map(pending.map((operation, i) => [operation, fates[i] ?? 'lost'])) }
  }
}

function* choices(
  pending: readonly PendingOperation[],
  groups: readonly PendingGroup[]
): Generator<[description: string, choice: Choice]> {
  const count = pending.length
  const place = (i: number) => `operation ${i + 1} of ${count} (${describe(pending[i])})`
  yield ['nothing unsynced', () => 'lost']
  yield ['everything', () => 'kept']
  yield ['names without bytes', (operation) => (isContent(operation) ? 'lost' : 'kept')]
  yield ['names and zeros', (operation) => (isContent(operation) ? zeros : 'kept')]
  yield ['bytes without names', (operation) => (isContent(operation) ? 'kept' : 'lost')]
  for (const group of groups) {
    const members = new Set(group)
    yield [`everything but the file of ${describe(group[0])}`, (operation) => keepIf(!members.has(operation))]
    yield [`only the file of ${describe(group[0])}`, (operation) => keepIf(members.has(operation))]
  }
  for (let i = count - 1; i > 0; i--) yield [`everything before ${place(i)}`, (_, at) => keepIf(at < i)]
  for (let i = 0; i < count; i++) yield [`everything but ${place(i)}`, (_, at) => keepIf(at !== i)]
  for (let i = 0; i < count; i++) yield [`only ${place(i)}`, (_, at) => keepIf(at === i)]
  for (let i = count - 1; i >= 0; i--) {
    const operation = pending[i]
    if (operation?.kind !== 'write') continue
    for (const [tear, fate] of tears(operation)) {
      yield [`everything before and ${tear} of ${place(i)}`, (_, at) => (at === i ? fate : keepIf(at < i))]
    }
  }
}

/** A write that ended early, one that ended early in a file of full size, one that lacks its first sector. */
function* tears({ position, bytes }: WriteOperation): Generator<[description: string, fate: Fate]> {
  const size = bytes.length
  const boundaries = sectorBoundaries(position, size)
  const step = Math.max(1, Math.ceil(boundaries.length / maxTears))
  const ends = [size >> 1, 1, size - 1, ...boundaries.filter((_, i) => i % step === 0)]
  for (const end of new Set(ends)) {
    if (end > 0 && end < size) yield [`${end} bytes`, { ranges: [[0, end]], grows: false }]
  }
  yield ['the size', zeros]
  if (size > 1) yield ['half and the size', { ranges: [[0, size >> 1]], grows: true }]
  const first = boundaries[0]
  if (first !== undefined) yield ['all but the first sector', { ranges: [[first, size]], grows: true }]
}

/**
 * A random subset of the operations, dense or sparse; writes lose sectors or end at any byte.
 * @param random uniform in [0, 1)
 */
export function randomFates(groups: readonly PendingGroup[], random: () => number): Fates {
  const keep = [0.05, 0.5, 0.8, 0.95, 1][Math.floor(random() * 5)] ?? 1
  const tear = random() < 0.5 ? 0.3 : 0
  return new Map(
    groups.flat().map((operation) => {
      if (operation.kind === 'write' && random() < tear) return [operation, randomTear(operation, random)]
      return [operation, keepIf(random() < keep)]
    })
  )
}

function randomTear({ position, bytes }: WriteOperation, random: () => number): Fate {
  const grows = random() < 0.5
  if (random() < 0.5) return { ranges: [[0, Math.floor(random() * bytes.length)]], grows }
  const edges = [0, ...sectorBoundaries(position, bytes.length), bytes.length]
  const sectors = edges.slice(1).map((end, i) => [edges[i] ?? 0, end] as const)
  return { ranges: sectors.filter(() => random() < 0.5), grows }
}

/** Offsets within a write at which a sector of the file begins, except 0. */
function sectorBoundaries(position: number, size: number): number[] {
  const boundaries: number[] = []
  for (let at = sectorBytes - (position % sectorBytes); at < size; at += sectorBytes) boundaries.push(at)
  return boundaries
}

const zeros: Fate = { ranges: [], grows: true }

function keepIf(condition: boolean): Fate {
  return condition ? 'kept' : 'lost'
}

function isContent(operation: PendingOperation): boolean {
  return operation.kind === 'write' || operation.kind === 'resize'
}

function describe(operation: PendingOperation | undefined): string {
  switch (operation?.kind) {
    case 'write':
      return `write of ${operation.bytes.length} bytes at ${operation.position}`
    case 'resize':
      return `resize to ${operation.length}`
    case 'rename':
      return `rename of ${operation.name} to ${operation.to}`
    case 'add':
    case 'remove':
      return `${operation.kind} ${operation.name}`
    default:
      return 'none'
  }
}
