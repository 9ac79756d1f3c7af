/** The hash that a caller chooses for an index: checked before anything is made, or thrown away for it. */
import { checkHashName, loadHasher } from '../bloom/hash.ts'

/** @throws PetalError InvalidOptions for a name that no hash has */
export function checkHashChoice(hash: unknown): void {
  if (hash !== undefined && hash !== null) checkHashName(hash)
}

/** @throws PetalError InvalidOptions for a hash that cannot be loaded here */
export async function loadHashChoice(hash: unknown): Promise<void> {
  checkHashChoice(hash)
  if (hash === 'farmhash') await loadHasher(hash)
}
