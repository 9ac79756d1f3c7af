/** The bytes of a key as something a Set or Map can hold: one character per byte, so that texts are ordered as their bytes are. */
export function toText(key: Uint8Array): string {
  let text = ''
  for (let i = 0; i < key.length; i++) text += String.fromCharCode(key[i]!)
  return text
}

/** The bytes that toText() made a text of, in an array of their own. */
export function fromText(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
