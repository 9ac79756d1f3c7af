/** Validates the nested and numeric options of open() and collection(). */
import { invalidOption } from '../model/invalid-option.ts'
import { knownReversible } from './ids/ids-option.ts'
import { assertKnownWithin } from './known-options.ts'
import { assertWholeNumber, isOptions, wholeNumber } from './option-checks.ts'
import { type AutoRebuildOptions, knownAutoRebuild, knownIndexOptions, type OpenOptions } from './options.ts'
import { knownLsmTuning, knownValueOptions } from './store/lsm-tuning.ts'
import { defaultScanThreads } from './threads/default-threads.ts'
import { maxThreads } from './threads/threads-option.ts'

/** @throws PetalError BadValue for an unknown option within `ids`, `index`, `autoRebuild` or `lsm` */
export function assertKnownInside(call: string, { ids, index, autoRebuild, lsm }: OpenOptions): void {
  assertKnownWithin(call, 'ids', ids, knownReversible)
  assertKnownWithin(call, 'index', index, knownIndexOptions)
  assertKnownWithin(call, 'autoRebuild', autoRebuild, knownAutoRebuild)
  assertKnownWithin(call, 'lsm', lsm, knownLsmTuning)
  assertKnownWithin(call, 'lsm.values', lsm?.values, knownValueOptions)
}

/** @throws PetalError BadValue */
export function documentCacheBytes(option: OpenOptions['documentCacheBytes']): number {
  return wholeNumber('documentCacheBytes', option, 64 * 1024 * 1024)
}

/** @throws PetalError BadValue */
export function scanThreads(option: OpenOptions['scanThreads']): number {
  if (option === undefined) return defaultScanThreads()
  assertWholeNumber('scanThreads', option, 0, maxThreads)
  return option
}

/** Returns undefined where automatic rebuilds are turned off. @throws PetalError InvalidOptions */
export function autoRebuildOptions(option: OpenOptions['autoRebuild'] = true): AutoRebuildOptions | undefined {
  if (typeof option === 'boolean') return option ? {} : undefined
  if (!isOptions(option)) throw invalidOption('autoRebuild', 'true, false or an object', option)
  const { deadShare, excess } = option
  if (deadShare !== undefined && !(typeof deadShare === 'number' && deadShare > 0 && deadShare <= 1)) {
    throw invalidOption('autoRebuild.deadShare', 'above 0 and at most 1', deadShare)
  }
  if (excess !== undefined && !(typeof excess === 'number' && excess >= 1)) {
    throw invalidOption('autoRebuild.excess', 'at least 1', excess)
  }
  return option
}

const defaultTtlIntervalSeconds = 60
/** Timer delays in milliseconds must fit in 31 bits. */
const maxTtlIntervalSeconds = 2_000_000

/** @throws PetalError InvalidOptions */
export function ttlIntervalSeconds(option: OpenOptions['ttlIntervalSeconds'] = defaultTtlIntervalSeconds): number {
  if (typeof option === 'number' && option > 0 && option <= maxTtlIntervalSeconds) return option
  throw invalidOption('ttlIntervalSeconds', `above 0 and at most ${maxTtlIntervalSeconds}`, option)
}
