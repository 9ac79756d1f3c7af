/** `petaldb find`: prints the documents that match a filter, or how they are found. */
import type { FindOptions, SortSpec } from '../index.ts'
import { command } from './command.ts'
import { existingCollection, openToRead } from './database.ts'
import { explanationText } from './explanation.ts'
import { Interrupt } from './interrupt.ts'
import { printCursor } from './print-cursor.ts'
import { collationOf, documentOf, wholeNumber } from './values.ts'

export const findCommand = command({
  name: 'find',
  summary: 'Prints the documents that match a filter, one line of Extended JSON each.',
  positionals: '<db> [filter]',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to search (default 'default')" },
    sort: { type: 'string', value: 'json', help: 'sort order, such as {"at": -1}; {"$natural": -1} is newest first' },
    collation: {
      type: 'string',
      value: 'json',
      help: 'how to compare strings, such as {"locale": "en", "strength": 2}'
    },
    limit: { type: 'string', value: 'n', help: 'print at most n documents' },
    skip: { type: 'string', value: 'n', help: 'skip the first n documents' },
    project: { type: 'string', value: 'json', help: 'fields to print, such as {"text": 1}' },
    explain: { type: 'boolean', help: 'show how the documents are found, and at what cost' },
    canonical: { type: 'boolean', help: 'print canonical Extended JSON, which keeps the type of every number' },
    json: { type: 'boolean', help: 'print one line per document even on a terminal; with --explain, print JSON' }
  },
  details: [
    'The filter is a MongoDB filter in Extended JSON, quoted to protect it from the shell:',
    '',
    '  petaldb find tweets.db \'{"lang": "en", "user.verified": {"$ne": true}}\' --limit 10'
  ],
  async run([location = '', filter = '{}'], options) {
    const query = documentOf('the filter', filter)
    const findOptions: FindOptions = {
      ...(options.sort !== undefined && { sort: documentOf('--sort', options.sort) as SortSpec }),
      ...(options.collation !== undefined && { collation: collationOf(options.collation) }),
      ...(options.project !== undefined && { projection: documentOf('--project', options.project) }),
      ...(options.limit !== undefined && { limit: wholeNumber('--limit', options.limit) }),
      ...(options.skip !== undefined && { skip: wholeNumber('--skip', options.skip) })
    }
    using interrupt = new Interrupt()
    await using db = await openToRead(location)
    const collection = await existingCollection(db, options.collection)
    const cursor = collection.find(query, { ...findOptions, signal: interrupt.signal })
    return await printCursor(cursor, options, interrupt, explanationText)
  }
})
