/** What importLines() is given, checked before the collection is made, or anything loaded that needs Node. */
import { PetalError } from '../../model/errors.ts'
import { checkThreads } from '../bulk/threads-option.ts'
import { assertBoolean, assertWholeNumber } from '../option-checks.ts'
import type { ImportOptions } from './import-run.ts'

/** @throws PetalError BadValue */
export function checkImport(source: unknown, options: ImportOptions): void {
  const { batch, sourceBytes } = options
  const isSource =
    typeof source === 'object' && source !== null && (Symbol.asyncIterator in source || Symbol.iterator in source)
  if (!isSource) throw new PetalError('BadValue', `importLines takes an iterable of bytes, got ${typeof source}`)
  assertBoolean('strict', options.strict)
  if (batch !== undefined) assertWholeNumber('batch', batch, 1)
  if (sourceBytes !== undefined) assertWholeNumber('sourceBytes', sourceBytes)
  checkThreads(options)
}
