import { PetalError } from '../../model/errors.ts'

/** Whoever waits for rows gets it when their segment is freed. */
export function indexClosed(): PetalError {
  return new PetalError('DatabaseNotOpen', 'The index was closed while its rows were being read')
}
