/** `petaldb paths`: lists the paths of the documents. */

import type { PathSummary } from '../index.ts'
import { stringifyRelaxed } from '../model/extended-json.ts'
import { command } from './command.ts'
import { existingCollection, openToRead } from './database.ts'
import { formatCount, formatPercent, formatTable } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { documentOf } from './values.ts'

const maxExampleCharacters = 40

export const pathsCommand = command({
  name: 'paths',
  summary: 'Prints the paths of the documents: how many documents have each, its types and an example.',
  positionals: '<db> [filter]',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to examine (default 'default')" },
    json: { type: 'boolean', help: 'print one line of Extended JSON per path' }
  },
  details: [
    'Elements of an array have the path of the array, and keys that consist of digits are omitted. With a filter, only',
    'matching documents are counted:',
    '',
    '  petaldb paths tweets.db \'{"place": {"$exists": true}}\''
  ],
  async run([location = '', filter = '{}'], options) {
    const query = documentOf('the filter', filter)
    using interrupt = new Interrupt()
    await using db = await openToRead(location)
    const collection = await existingCollection(db, options.collection)
    try {
      const paths = await collection.paths(query, { signal: interrupt.signal })
      const lines = options.json === true ? paths.map((path) => stringifyRelaxed({ ...path })) : table(paths)
      if (lines.length > 0) await printLine(lines.join('\n'))
      return 0
    } catch (error) {
      return interrupt.reportNotCreated('the list of paths', error)
    }
  }
})

function table(paths: readonly PathSummary[]): readonly string[] {
  // Every document has an _id.
  const matches = paths.find(({ path }) => path === '_id')?.documents
  if (matches === undefined) return ['no documents']
  const rows = paths.map(({ path, documents, types, example }) => [
    path === '' ? '""' : printable(path),
    formatCount(documents),
    formatPercent(documents / matches),
    typesText(types, documents),
    example === undefined ? '' : printable(exampleText(example))
  ])
  return formatTable([['path', 'documents', 'share', 'types', 'example'], ...rows], 'lrrll')
}

/** `string`, or `string 3,000 | null 120` if not all documents have the same type. */
function typesText(types: PathSummary['types'], documents: number): string {
  return Object.entries(types)
    .map(([type, count]) => (count === documents ? type : `${type} ${formatCount(count)}`))
    .join(' | ')
}

function exampleText(value: unknown): string {
  const text = stringifyRelaxed({ value }).slice('{"value":'.length, -1)
  if (text.length <= maxExampleCharacters) return text
  const [...characters] = text.slice(0, 2 * maxExampleCharacters)
  return `${characters.slice(0, maxExampleCharacters).join('')}…`
}

/** Escapes control characters, which would move the cursor or break the line, as in JSON. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
