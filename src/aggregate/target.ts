/** The target collection of a writing stage. */
import { isPlainObject } from '../model/types.ts'
import { checkKeys } from './arguments.ts'
import { type StagePlace, stageError } from './errors.ts'
import { collectionOf } from './foreign.ts'

/** @param spec its name, or `{ coll: name }` @throws PetalError BadValue, FailedToParse, CommandNotSupported */
export function targetOf(spec: unknown, place: StagePlace): string {
  if (!isPlainObject(spec)) return collectionOf(spec, place)
  checkKeys(spec, ['db', 'coll'], place)
  if (spec.db === undefined) return collectionOf(spec.coll, place)
  throw stageError('CommandNotSupported', place, 'only collections of this database can be written: omit db')
}
