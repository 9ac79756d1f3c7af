/** Detects the layout of the documents in a file from its first bytes. */
import type { ValueLayout } from './value-splitter.ts'

export type Layout = 'lines' | ValueLayout

/**
 * Maximum number of bytes examined. If the first line of a bracketed file is longer, the file is taken for an array.
 */
const maxHeadBytes = 64 * 1024
const byteOrderMark = '\u00ef\u00bb\u00bf'

/**
 * @param head the first bytes
 * @param isAll there are no more bytes
 * @returns undefined if more bytes are needed
 */
export function layoutOf(head: Uint8Array, isAll: boolean): Layout | undefined {
  const isEnough = isAll || head.length >= maxHeadBytes
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, maxHeadBytes)).toString('latin1')
  const layout = byteOrderMark.startsWith(text) ? undefined : decide(text.slice(byteOrderMarkLength(head)), isEnough)
  return layout ?? (isEnough ? 'lines' : undefined)
}

export function byteOrderMarkLength(head: Uint8Array): number {
  const [first, second, third] = head
  return first === 0xef && second === 0xbb && third === 0xbf ? byteOrderMark.length : 0
}

function decide(text: string, isEnough: boolean): Layout | undefined {
  const [, first = '', end, next = ''] = /^[ \t\r\n]*([^\n]*)(\n?)[ \t\r\n]*([\s\S]?)/.exec(text) ?? []
  if (first === '') return undefined
  if (first[0] !== '[' && first[0] !== '{') return 'lines'
  if (end === '' && !isEnough) return undefined
  const open = first[0] === '{' ? stateAtEnd(first) : undefined
  if (open?.isWhole) return 'lines'
  if (next === '' && !isEnough) return undefined
  if (open === undefined) return next !== '' && isArray(first) ? 'lines' : 'array'
  return next !== '' && mayContinue(open, next) ? 'documents' : 'lines'
}

/** An array is not a document, so lines of arrays are lines; and nothing may follow a single array. */
function isArray(line: string): boolean {
  try {
    return Array.isArray(JSON.parse(line))
  } catch {
    return false
  }
}

/** The state at the end of a line. */
interface LineEndState {
  readonly isWhole: boolean
  /** Innermost open bracket; undefined inside a string, and if nothing is open. */
  readonly bracket: string | undefined
  /** Last character of the line, except for white space. */
  readonly last: string
}

function stateAtEnd(line: string): LineEndState {
  const open: string[] = []
  let isInText = false
  let last = ''
  for (let at = 0; at < line.length; at++) {
    const unit = line[at]!
    if (isInText) {
      if (unit === '\\') at++
      else if (unit === '"') isInText = false
    } else if (unit === '"') isInText = true
    else if (unit === '{' || unit === '[') open.push(unit)
    else if (unit === '}' || unit === ']') open.pop()
    if (unit !== ' ' && unit !== '\t' && unit !== '\r') last = unit
  }
  return { isWhole: open.length === 0 && !isInText, bracket: isInText ? undefined : open.at(-1), last }
}

/** Whether a document may continue with the next line. After a truncated line, another document starts. */
function mayContinue({ bracket, last }: LineEndState, next: string): boolean {
  if (bracket === undefined) return false
  if (bracket === '[' || last === ':') return true
  // A key, or punctuation that ends or separates what the line has started.
  return last === '{' || last === ',' ? next === '"' || next === '}' : next === ',' || next === '}' || next === ']'
}
