/**
 * The table by which a CRC takes a byte at a time: crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff].
 * @param polynomial with its bits reversed, as in the CRC-32 of zlib and the CRC-32C of LevelDB
 */
export function crcTable(polynomial: number): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let word = byte
    for (let bit = 0; bit < 8; bit++) word = (word >>> 1) ^ (word & 1 ? polynomial : 0)
    return word
  })
}
