/** A key's bytes as a string for use in a Set or Map: one character per byte, so that strings order like the bytes. */
export function toText(key: Uint8Array): string {
  let text = ''
  for (let i = 0; i < key.length; i++) text += String.fromCharCode(key[i]!)
  return text
}

/** Converts the result of toText() back to bytes. */
export function fromText(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
