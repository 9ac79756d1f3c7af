/** Checks a caller's choice of hash before anything is created, or discarded, because of it. */
import { checkHashName, loadHasher } from '../bloom/hash.ts'

/** @throws PetalError InvalidOptions for an unknown name */
export function checkHashChoice(hash: unknown): void {
  if (hash !== undefined && hash !== null) checkHashName(hash)
}

/** @throws PetalError InvalidOptions for a hash that cannot be loaded here */
export async function loadHashChoice(hash: unknown): Promise<void> {
  checkHashChoice(hash)
  if (hash === 'farmhash') await loadHasher(hash)
}
