/** Long enough for any of our messages, short enough for a terminal. */
const maxCharacters = 400

/** Returns the text of a message as one line, cut off if it is very long. */
export function oneLine(text: string): string {
  const line = text.replace(/\s*[\r\n]+\s*/g, ' ')
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters)}…`
}
