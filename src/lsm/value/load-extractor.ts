/** Loads extractors, and identifies them in files. */
import { createHasher } from '../../bloom/hash.ts'
import { notSupported } from '../errors.ts'
import type { Extractor, ExtractorSpec } from './extractor.ts'

/** Must be equal for filters and zone maps to be usable; the module's location does not matter. */
export interface ExtractorIdentity {
  readonly name: string
  readonly version: number
  /** 64-bit hash of the options as JSON with sorted keys, two uint32. */
  readonly optionsLow: number
  readonly optionsHigh: number
}

/** Maximum number of fields with zone maps. */
export const maxZoneFields = 64

const loaded = new Map<string, Promise<Extractor>>()

/**
 * Loads an extractor, once per thread and options.
 * @throws TypeError for what is no specification; LEVEL_NOT_SUPPORTED if the module cannot be loaded or does not create
 *   an extractor
 */
export async function loadExtractor(spec: ExtractorSpec): Promise<Extractor> {
  const given: Partial<ExtractorSpec> | undefined | null = spec
  if (typeof given?.module !== 'string' || typeof given.name !== 'string') {
    const received = JSON.stringify(given)
    throw new TypeError(`Option values.extractor must be { module, name, version, options }, received ${received}`)
  }
  if (!Number.isSafeInteger(spec.version) || spec.version < 0) {
    throw notSupported(`Extractor ${spec.name}: version must be an integer of at least 0, got ${String(spec.version)}`)
  }
  const key = `${spec.module}\n${sortedJson(spec.options)}`
  const known = loaded.get(key)
  if (known !== undefined) return known
  const loading = load(spec)
  loaded.set(key, loading)
  // A module that failed to load may be available the next time.
  loading.catch(() => loaded.delete(key))
  return loading
}

export function identityOf(spec: ExtractorSpec): ExtractorIdentity {
  const hasher = createHasher('murmur')
  hasher.hashString(0, 0, 0, sortedJson(spec.options))
  return { name: spec.name, version: spec.version, optionsLow: hasher.lo >>> 0, optionsHigh: hasher.hi >>> 0 }
}

export function isSameExtractor(a: ExtractorIdentity, b: ExtractorIdentity): boolean {
  return (
    a.name === b.name && a.version === b.version && a.optionsLow === b.optionsLow && a.optionsHigh === b.optionsHigh
  )
}

async function load(spec: ExtractorSpec): Promise<Extractor> {
  const what = `Extractor ${spec.name} (${spec.module})`
  let module: { readonly createExtractor?: unknown }
  try {
    module = await import(spec.module)
  } catch (cause) {
    throw notSupported(`${what} cannot be loaded`, cause)
  }
  if (typeof module.createExtractor !== 'function') {
    throw notSupported(`${what} does not export createExtractor(options)`)
  }
  let extractor: Extractor
  try {
    extractor = await module.createExtractor(spec.options)
  } catch (cause) {
    throw notSupported(`${what} rejects its options`, cause)
  }
  if (extractor.zoneFields.length > maxZoneFields) {
    throw notSupported(`${what} has ${extractor.zoneFields.length} zone fields; the maximum is ${maxZoneFields}`)
  }
  return extractor
}

/** JSON that is independent of the order in which keys were set. */
function sortedJson(value: unknown): string {
  const sorted = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part
  )
  return sorted ?? ''
}
