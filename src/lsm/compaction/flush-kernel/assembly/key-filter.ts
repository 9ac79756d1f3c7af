/** Key hashes, and the bits of the filter over them: see format/key-filter.ts. */

let hashesAt: usize = 0

/** Number of hashes added. */
export let hashCount: u32 = 0

/** @param at address of an area with eight bytes for each key */
export function setHashes(at: usize): void {
  hashesAt = at
}

export function clearHashes(): void {
  hashCount = 0
}

@inline
function mix(word: u32): u32 {
  let h = (word ^ (word >> 16)) * 0x85ebca6b
  h = (h ^ (h >> 13)) * 0xc2b2ae35
  return h ^ (h >> 16)
}

/** Adds a key's hash: 32 bits, and 21 above them. */
export function addHash(key: usize, length: u32): void {
  const wide = key + <usize>(length & ~3)
  let a: u32 = 0x1b873593
  let b: u32 = 0x2545f491
  let at = key
  for (; at < wide; at += 4) {
    const word = load<u32>(at)
    a ^= rotl<u32>(word * 0xcc9e2d51, 15)
    a = rotl<u32>(a, 13) * 5 + 0xe6546b64
    b = (b ^ word) * 0x9e3779b1
    b ^= (b >> 15) ^ a
  }
  let tail = length
  for (const end = key + <usize>length; at < end; at++) tail = (tail << 8) | <u32>load<u8>(at)
  a = mix(a ^ (tail * 0xcc9e2d51))
  b = mix(b ^ ((tail ^ 0x55555555) * 0x9e3779b1) ^ a)
  const hash = hashesAt + (<usize>(hashCount++) << 3)
  store<u32>(hash, a)
  store<u32>(hash, b >> 11, 4)
}

/** Sets `probes` of `bits` bits for each hash added. REQUIRES: the bits at `at` are 0. */
export function fillFilter(at: usize, bits: u32, probes: u32): void {
  const scale = <f64>bits
  const end = hashesAt + (<usize>hashCount << 3)
  for (let hash = hashesAt; hash < end; hash += 8) {
    let h = load<u32>(hash)
    const step = (load<u32>(hash, 4) * 2 + 1) * 0x9e3779b1
    for (let probe: u32 = 0; probe < probes; probe++) {
      // In doubles, exactly as the readers compute it.
      const bit = <u32>(<f64>h * (1.0 / 4294967296.0) * scale)
      const byte = at + <usize>(bit >> 3)
      store<u8>(byte, load<u8>(byte) | <u8>(<u32>1 << (bit & 7)))
      h += step
    }
  }
}
