/**
 * Copies all of the source to target[at, …). TypedArray's set() takes memory that threads share word by word, with an atomic
 * access each; Buffer's fill() costs a quarter of that, where there is a Buffer.
 */
export function copyLong(source: Uint8Array, target: Uint8Array<ArrayBuffer>, at: number): void {
  if (typeof Buffer === 'undefined' || source.length === 0) target.set(source, at)
  else Buffer.from(target.buffer, target.byteOffset, target.length).fill(source, at, at + source.length)
}
