/** Formats JSON with indentation and colours. */

const escapes = { key: '\u001b[34m', string: '\u001b[32m', number: '\u001b[33m', word: '\u001b[35m' } as const
const reset = '\u001b[39m'

/** A string followed by a colon is a key. */
const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)/g

/** @param json valid JSON, on one or more lines */
export function prettyJson(json: string, isColoured: boolean): string {
  const text = JSON.stringify(JSON.parse(json), null, 2)
  if (!isColoured) return text
  return text.replace(token, (_all, string?: string, colon?: string, number?: string, word?: string) => {
    if (string !== undefined && colon !== undefined) return `${escapes.key}${string}${reset}${colon}`
    if (string !== undefined) return `${escapes.string}${string}${reset}`
    if (number !== undefined) return `${escapes.number}${number}${reset}`
    return `${escapes.word}${word ?? ''}${reset}`
  })
}

/** Respects https://no-color.org and the terminal's capabilities. */
export function hasColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && stream.hasColors()
}
