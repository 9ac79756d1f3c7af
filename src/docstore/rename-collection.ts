/** Gives a collection a new name. */
import { PetalError } from '../model/errors.ts'
import type { CollectionOpener } from './collection-opener.ts'
import type { Known } from './known-options.ts'
import type { OpenCollections } from './open-collections.ts'
import { assertBoolean, assertOptions } from './option-checks.ts'
import type { Catalog } from './store/catalog.ts'
import type { CatalogEntry } from './store/catalog-records.ts'

/** Options of rename() and renameCollection(). */
export interface RenameOptions {
  /** Whether a collection that has the new name is dropped; by default it makes rename() fail. */
  readonly dropTarget?: boolean | undefined
}

const knownRename = { dropTarget: true } satisfies Known<RenameOptions>

/** @throws PetalError BadValue */
export function checkRename(options: RenameOptions): void {
  assertOptions('rename', options, knownRename)
  assertBoolean('dropTarget', options.dropTarget)
}

export interface NewName extends RenameOptions {
  readonly from: string
  readonly to: string
}

/**
 * Renames a collection, with one batch of the catalog.
 * @returns the collection that had the new name, whose records are to be deleted; undefined if there was none
 * @throws PetalError NamespaceNotFound, NamespaceExists, IllegalOperation, InvalidOptions
 */
export async function renameCollection(
  names: NewName,
  catalog: Catalog,
  opener: CollectionOpener,
  open: OpenCollections
): Promise<CatalogEntry | undefined> {
  const { from, to } = names
  // Checked before callers are turned away from the collections.
  assertPossible(names, catalog, opener)
  let refusal: unknown
  let replaced: CatalogEntry | undefined
  await open.whileClosed([from, to], async () => {
    try {
      assertPossible(names, catalog, opener)
    } catch (error) {
      // Not an error for callers that are waiting for the collections.
      refusal = error
      return
    }
    replaced = catalog.entry(to)
    await opener.rename(from, to)
  })
  if (refusal !== undefined) throw refusal
  return replaced
}

function assertPossible({ from, to, dropTarget }: NewName, catalog: Catalog, opener: CollectionOpener): void {
  const entry = catalog.entry(from)
  if (entry === undefined) throw new PetalError('NamespaceNotFound', `There is no collection '${from}'`)
  if (from === to) throw new PetalError('IllegalOperation', `The collection '${from}' already has this name`)
  if (dropTarget !== true && catalog.entry(to) !== undefined) {
    throw new PetalError('NamespaceExists', `A collection '${to}' already exists; dropTarget: true replaces it`)
  }
  opener.assertChosenIds(to, entry)
}
