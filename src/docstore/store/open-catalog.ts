/** Opens a store and its catalog; what the catalog contains decides how the store is opened. */
import { fromStore } from '../errors.ts'
import type { OpenOptions, Store, StoreName } from '../options.ts'
import { Catalog } from './catalog.ts'
import { withFilters } from './lsm-store.ts'
import { type OpenedStore, openStore } from './open-store.ts'

/** How a damaged database is opened to be repaired. */
export interface ToRepair {
  /** Its engine, whatever its marker says. */
  readonly engine: StoreName
  /** Told of malformed records of the catalog, which are left out. */
  readonly onDamage: (what: string) => void
}

/** Opens the store and its catalog, with value filters if a collection has no other index. */
export async function openCatalog(
  location: string | Store,
  options: OpenOptions,
  toRepair?: ToRepair
): Promise<{ readonly opened: OpenedStore; readonly catalog: Catalog }> {
  const opened = await openStore(location, options, toRepair?.engine)
  try {
    const catalog = await Catalog.open(opened.store, options.sync === true, toRepair?.onDamage)
    const isMissing = opened.filters === undefined && opened.couldHaveFilters && options.lsm?.values === undefined
    if (!isMissing || !catalog.hasIndex('embedded')) return { opened, catalog }
  } catch (error) {
    await opened.close()
    throw fromStore(error)
  }
  await opened.close()
  return openCatalog(location, withFilters(options), toRepair)
}
