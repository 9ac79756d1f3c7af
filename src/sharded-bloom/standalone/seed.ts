/** Splits a seed option into the two int32 halves that hashers take. */
export function seedHalves(seed: number): { readonly lo: number; readonly hi: number } {
  return { lo: seed | 0, hi: Math.floor(seed / 2 ** 32) | 0 }
}
