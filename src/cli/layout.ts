/** How the documents of a file stand in it, told by its beginning. */
import type { ValueLayout } from './value-splitter.ts'

export type Layout = 'lines' | ValueLayout

/** What is looked at at most. An array whose first line is longer is taken for one. */
const maxHeadBytes = 64 * 1024
const byteOrderMark = '\u00ef\u00bb\u00bf'

/**
 * @param head the first bytes
 * @param isAll nothing comes behind them
 * @returns undefined when more has to be seen
 */
export function layoutOf(head: Uint8Array, isAll: boolean): Layout | undefined {
  const isEnough = isAll || head.length >= maxHeadBytes
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, maxHeadBytes)).toString('latin1')
  const layout = byteOrderMark.startsWith(text) ? undefined : decide(text.slice(lengthOfMark(head)), isEnough)
  return layout ?? (isEnough ? 'lines' : undefined)
}

export function lengthOfMark(head: Uint8Array): number {
  const [first, second, third] = head
  return first === 0xef && second === 0xbb && third === 0xbf ? byteOrderMark.length : 0
}

function decide(text: string, isEnough: boolean): Layout | undefined {
  const [, first = '', end, next = ''] = /^[ \t\r\n]*([^\n]*)(\n?)[ \t\r\n]*([\s\S]?)/.exec(text) ?? []
  if (first === '') return undefined
  if (first[0] !== '[' && first[0] !== '{') return 'lines'
  if (end === '' && !isEnough) return undefined
  const open = first[0] === '{' ? openAtEnd(first) : undefined
  if (open?.isWhole) return 'lines'
  if (next === '' && !isEnough) return undefined
  if (open === undefined) return next !== '' && isArray(first) ? 'lines' : 'array'
  return next !== '' && mayGoOn(open, next) ? 'documents' : 'lines'
}

/** A line that is an array is no document, and an array has nothing behind it. */
function isArray(line: string): boolean {
  try {
    return Array.isArray(JSON.parse(line))
  } catch {
    return false
  }
}

/** What a line leaves open. */
interface OpenLine {
  readonly isWhole: boolean
  /** Undefined within a text, and where nothing is open. */
  readonly bracket: string | undefined
  /** Of the line, but for white space. */
  readonly last: string
}

function openAtEnd(line: string): OpenLine {
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

/** Whether a document may go on so in the next line. Behind a line that was cut off another document begins. */
function mayGoOn({ bracket, last }: OpenLine, next: string): boolean {
  if (bracket === undefined) return false
  if (bracket === '[' || last === ':') return true
  // A key, or what ends or divides what the line has begun.
  return last === '{' || last === ',' ? next === '"' || next === '}' : next === ',' || next === '}' || next === ']'
}
