/** Makes rows from documents' signatures. The contract is in ../kernels.ts, the invariants in ./index.ts. */
/** transposeBlock's workspace: 32 vectors, and the 8 words made from four of them. */
const WORKSPACE: usize = 1024
const WORDS: usize = 1536

export function transposeBlock(
  signatures: usize, signatureBytes: u32, frames: usize, rowsPerFrame: u32, block: u32
): void {
  const rowBytes = <usize>(8192 / rowsPerFrame)
  const column = <usize>block << 3
  let rowInFrame: u32 = 0
  for (let byte: u32 = 0; byte < signatureBytes; byte += 8) {
    const corner = signatures + <usize>byte
    for (let group: usize = 0; group < 4; group++) {
      gatherBytes(corner + group * (<usize>signatureBytes << 4), signatureBytes, WORKSPACE + (group << 4))
    }
    // Now the 64 bytes at WORKSPACE + 64·b are byte b of the 64 signatures, in document order: the mask of their top
    // bits is the word of row 8·b + 7, and shifting left by one moves the next lower row to the top.
    for (let lane: usize = 0; lane < 8; lane++) {
      const bytes = WORKSPACE + (lane << 6)
      let v0 = v128.load(bytes), v1 = v128.load(bytes, 16), v2 = v128.load(bytes, 32), v3 = v128.load(bytes, 48)
      for (let word = WORDS + 56; word >= WORDS; word -= 8) {
        store<u64>(word, topBits(v0, v1, v2, v3))
        v0 = i8x16.add(v0, v0)
        v1 = i8x16.add(v1, v1)
        v2 = i8x16.add(v2, v2)
        v3 = i8x16.add(v3, v3)
      }
      for (let word = WORDS; word < WORDS + 64; word += 8) {
        store<u64>(<usize>load<u32>(frames) + <usize>rowInFrame * rowBytes + column, load<u64>(word))
        if (++rowInFrame == rowsPerFrame) {
          rowInFrame = 0
          frames += 4
        }
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function topBits(v0: v128, v1: v128, v2: v128, v3: v128): u64 {
  return <u64><u32>i8x16.bitmask(v0)
    | (<u64><u32>i8x16.bitmask(v1) << 16)
    | (<u64><u32>i8x16.bitmask(v2) << 32)
    | (<u64><u32>i8x16.bitmask(v3) << 48)
}

/**
 * Transposes eight bytes of each of 16 signatures: byte b of all 16, in document order, goes to out + 64·b. In four
 * rounds of interleaving, documents i and i + 8, then + 4, + 2, + 1 are paired, so that the order is ascending.
 */
// @ts-ignore: decorator
@inline
function gatherBytes(from: usize, stride: u32, out: usize): void {
  const step = <usize>stride
  const half = from + (step << 3)
  const a0 = low(v128.load64_zero(from), v128.load64_zero(half))
  const a1 = low(v128.load64_zero(from + step), v128.load64_zero(half + step))
  const a2 = low(v128.load64_zero(from + step * 2), v128.load64_zero(half + step * 2))
  const a3 = low(v128.load64_zero(from + step * 3), v128.load64_zero(half + step * 3))
  const a4 = low(v128.load64_zero(from + step * 4), v128.load64_zero(half + step * 4))
  const a5 = low(v128.load64_zero(from + step * 5), v128.load64_zero(half + step * 5))
  const a6 = low(v128.load64_zero(from + step * 6), v128.load64_zero(half + step * 6))
  const a7 = low(v128.load64_zero(from + step * 7), v128.load64_zero(half + step * 7))
  // b: documents i, i+4, i+8, i+12; bytes 0–3 in the low one, 4–7 in the high one.
  const b0 = low(a0, a4), b0h = high(a0, a4)
  const b1 = low(a1, a5), b1h = high(a1, a5)
  const b2 = low(a2, a6), b2h = high(a2, a6)
  const b3 = low(a3, a7), b3h = high(a3, a7)
  // c: even and odd documents; two bytes each.
  const even01 = low(b0, b2), even23 = high(b0, b2), even45 = low(b0h, b2h), even67 = high(b0h, b2h)
  const odd01 = low(b1, b3), odd23 = high(b1, b3), odd45 = low(b1h, b3h), odd67 = high(b1h, b3h)
  v128.store(out, low(even01, odd01))
  v128.store(out, high(even01, odd01), 64)
  v128.store(out, low(even23, odd23), 128)
  v128.store(out, high(even23, odd23), 192)
  v128.store(out, low(even45, odd45), 256)
  v128.store(out, high(even45, odd45), 320)
  v128.store(out, low(even67, odd67), 384)
  v128.store(out, high(even67, odd67), 448)
}

// @ts-ignore: decorator
@inline
function low(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
}

// @ts-ignore: decorator
@inline
function high(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
}
