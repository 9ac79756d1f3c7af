/**
 * The upper level, with the same arithmetic as in sharded-bloom/segment/upper-level.ts; the contract is in
 * ../kernels.ts.
 */

export function addToGroup(hashes: usize, count: u32, frame: usize, probes: u32, group: u32): void {
  const bit = <u32>1 << group
  for (const end = hashes + (<usize>count << 3); hashes < end; hashes += 8) {
    const hi = load<u32>(hashes, 4)
    let state = (load<u32>(hashes) ^ rotl<u32>(hi, 16)) * 0x9e3779b1
    for (let i: u32 = 0; i < probes; i++) {
      state = state * 0x915f77f5 + (hi | 1)
      const word = frame + (<usize>(state >>> 21) << 2)
      store<u32>(word, load<u32>(word) | bit)
    }
  }
}

export function packGroups(frame: usize, words: u32, shift: u32, groups: u32, out: usize): void {
  const mask = lowest(groups)
  for (const end = frame + (<usize>words << 2); frame < end; out += 4) {
    let bits: u32 = 0
    for (let at: u32 = 0; at < 32; at += groups, frame += 4) bits |= ((load<u32>(frame) >>> shift) & mask) << at
    store<u32>(out, bits)
  }
}

export function unpackGroups(packed: usize, words: u32, shift: u32, groups: u32, frame: usize): void {
  const mask = lowest(groups)
  for (const end = frame + (<usize>words << 2); frame < end; packed += 4) {
    const bits = load<u32>(packed)
    for (let at: u32 = 0; at < 32; at += groups, frame += 4) {
      store<u32>(frame, load<u32>(frame) | (((bits >>> at) & mask) << shift))
    }
  }
}

// @ts-ignore: decorator
@inline
function lowest(groups: u32): u32 {
  return groups == 32 ? ~(<u32>0) : (<u32>1 << groups) - 1
}
