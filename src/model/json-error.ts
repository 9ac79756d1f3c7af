/**
 * Finds where a text stops being JSON. JSON.parse decides whether it is JSON; its messages do not always give the
 * position.
 */

/** What may come next. */
type Expectation = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma or end'

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const literal = /true|false|null/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Offset of the first invalid character; the text's length if it ends too early. */
export function findJsonError(text: string): number {
  const open: ('{' | '[')[] = []
  let expected: Expectation = 'value'
  let at = 0
  for (;;) {
    while (isSpace(text.charCodeAt(at))) at++
    const character = text.charAt(at)
    if (character === '') return at
    const isKey: boolean = expected === 'key' || expected === 'key or }'
    if (expected === 'colon') {
      if (character !== ':') return at
      expected = 'value'
      at++
    } else if (expected === 'comma or end') {
      const inside = open.at(-1)
      if (inside !== undefined && character === ',') expected = inside === '{' ? 'key' : 'value'
      else if (character === (inside === '{' ? '}' : ']') && inside !== undefined) open.pop()
      else return at
      at++
    } else if ((expected === 'key or }' && character === '}') || (expected === 'value or ]' && character === ']')) {
      open.pop()
      expected = 'comma or end'
      at++
    } else if (character === '"') {
      const end = endOfString(text, at + 1)
      if (text.charAt(end) !== '"') return end
      expected = isKey ? 'colon' : 'comma or end'
      at = end + 1
    } else if (!isKey && (character === '{' || character === '[')) {
      open.push(character)
      expected = character === '{' ? 'key or }' : 'value or ]'
      at++
    } else {
      const end = isKey ? at : Math.max(endOf(number, text, at), endOf(literal, text, at))
      if (end === at) return at
      expected = 'comma or end'
      at = end
    }
  }
}

/** Offset of the closing quotation mark, or of the first character that is invalid in a string. */
function endOfString(text: string, from: number): number {
  let at = from
  for (;;) {
    const unit = text.charCodeAt(at)
    if (unit === 0x5c) {
      const end = endOf(escaped, text, at)
      if (end === at) return at
      at = end
    } else if (unit >= 0x20 && unit !== 0x22) {
      at++
    } else {
      return at
    }
  }
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09
}
