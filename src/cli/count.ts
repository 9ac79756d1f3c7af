/** `petaldb count`: prints the number of matches. */
import { command } from './command.ts'
import { existingCollection, openToRead } from './database.ts'
import { printLine } from './line-writer.ts'
import { collationOf, documentOf } from './values.ts'

export const countCommand = command({
  name: 'count',
  summary: 'Prints the number of documents that match a filter, or of all documents.',
  positionals: '<db> [filter]',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to count in (default 'default')" },
    collation: {
      type: 'string',
      value: 'json',
      help: 'how to compare strings, such as {"locale": "en", "strength": 2}'
    },
    json: { type: 'boolean', help: 'print {"count": n}' }
  },
  async run([location = '', filter = '{}'], options) {
    const query = documentOf('the filter', filter)
    const { collation } = options
    await using db = await openToRead(location)
    const collection = await existingCollection(db, options.collection)
    const count = await collection.countDocuments(
      query,
      collation === undefined ? {} : { collation: collationOf(collation) }
    )
    await printLine(options.json === true ? JSON.stringify({ count }) : String(count))
    return 0
  }
})
