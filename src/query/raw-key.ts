/**
 * Finds a key in a JSON text without parsing it.
 *
 * Invariants:
 * 1. No occurrence of the key is missed that is spelled as JSON.stringify does it, white space around the colon aside: imported lines
 *    have it, and no other spellings (see docstore/documents/indexed-records.ts). `"key"` is searched for in steps of one character:
 *    in `{"b":1,":1,":2}` the key `:1,` is found at the end of `"b"`, and again where it stands.
 * 2. What stands inside a string is not found: its quotes are escaped, and the last quote of `"key"` is not.
 */

/** What tweets and other JSON are made of, commonest first; anything else is rarer. */
const commonCharacters = '"e:t,sanirol_0u1d2c f743589p6mhwgy{}[]-v.x/Tbk'
const colon = 0x3a

/**
 * @returns whether a value behind the key passes, given the offset where it begins
 * @example
 * const someValue = compileKeySearch('n')
 * someValue('{"n" : 12}', (at) => at === 7) // true
 */
export function compileKeySearch(key: string): (text: string, passes: (at: number) => boolean) => boolean {
  const spelling = JSON.stringify(key)
  // The search jumps from one first character to the next. A quote is every tenth character: a rare letter of the key
  // makes the search two to eight times faster (measured).
  const skipped = rarestCharacter(spelling)
  const needle = spelling.slice(skipped)
  return (text, passes) => {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
      if (!text.startsWith(spelling, at - skipped)) continue
      const end = behindSpace(text, at + needle.length)
      if (text.charCodeAt(end) === colon && passes(behindSpace(text, end + 1))) return true
    }
    return false
  }
}

function behindSpace(text: string, at: number): number {
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
