/**
 * Finds a key in a JSON text without parsing it.
 *
 * Invariants:
 * 1. It misses no occurrence of the key in JSON.stringify's spelling, with optional whitespace around the colon:
 *    imported lines have it, but no other spellings (see docstore/documents/indexed-records.ts). The search for `"key"`
 *    advances by one character: in `{"b":1,":1,":2}` it finds the key `:1,` at the end of `"b"`, and again in its
 *    proper place.
 * 2. It finds nothing inside a string: there quotes are escaped, but the last quote of `"key"` is not.
 */

/** Characters of tweets and other JSON, most frequent first; any other is rarer. */
const commonCharacters = '"e:t,sanirol_0u1d2c f743589p6mhwgy{}[]-v.x/Tbk'
const colon = 0x3a

/**
 * @returns whether a value of the key passes, given the offset where it begins
 * @example
 * const someValue = compileKeySearch('n')
 * someValue('{"n" : 12}', (at) => at === 7) // true
 */
export function compileKeySearch(key: string): (text: string, passes: (at: number) => boolean) => boolean {
  const spelling = JSON.stringify(key)
  // The search jumps between occurrences of the first character. Every tenth character is a quote, so starting with a
  // rare letter of the key makes it two to eight times faster (measured).
  const skipped = rarestCharacter(spelling)
  const needle = spelling.slice(skipped)
  return (text, passes) => {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
      if (!text.startsWith(spelling, at - skipped)) continue
      const end = skipSpace(text, at + needle.length)
      if (text.charCodeAt(end) === colon && passes(skipSpace(text, end + 1))) return true
    }
    return false
  }
}

function skipSpace(text: string, at: number): number {
  let end = at
  while (isSpace(text.charCodeAt(end))) end++
  return end
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d
}

/** Offset of the rarest character between the quotes. */
function rarestCharacter(spelling: string): number {
  let rarest = 1
  for (let i = 2; i < spelling.length - 1; i++) {
    if (rarity(spelling.charAt(i)) > rarity(spelling.charAt(rarest))) rarest = i
  }
  return rarest
}

function rarity(character: string): number {
  const rank = commonCharacters.indexOf(character)
  return rank < 0 ? commonCharacters.length : rank
}
