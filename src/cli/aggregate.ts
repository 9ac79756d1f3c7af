/** `petaldb aggregate`: prints the results of a pipeline. */
import type { Document } from '../index.ts'
import { command } from './command.ts'
import { existingCollection, openToRead, openToWriteOrRead } from './database.ts'
import { aggregationText } from './explanation.ts'
import { Interrupt } from './interrupt.ts'
import { printCursor } from './print-cursor.ts'
import { collationOf, pipelineOf } from './values.ts'

export const aggregateCommand = command({
  name: 'aggregate',
  summary: 'Prints the results of an aggregation pipeline, one line of Extended JSON each.',
  positionals: '<db> <pipeline>',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to aggregate (default 'default')" },
    collation: {
      type: 'string',
      value: 'json',
      help: 'how to compare strings, such as {"locale": "en", "strength": 2}'
    },
    explain: { type: 'boolean', help: 'show what the index does and which stages process documents' },
    canonical: { type: 'boolean', help: 'print canonical Extended JSON, which keeps the type of every number' },
    json: { type: 'boolean', help: 'print one line per document even on a terminal; with --explain, print JSON' }
  },
  details: [
    'The pipeline is a MongoDB pipeline in Extended JSON, quoted to protect it from the shell:',
    '',
    '  petaldb aggregate tweets.db \'[{"$group": {"_id": "$lang", "n": {"$sum": 1}}}, {"$sort": {"n": -1}}]\'',
    '',
    'A pipeline that ends with $out or $merge writes its results to a collection and prints nothing.'
  ],
  async run([location = '', text = '[]'], options) {
    const pipeline = pipelineOf(text)
    using interrupt = new Interrupt()
    await using db = await (writes(pipeline) ? openToWriteOrRead(location) : openToRead(location))
    const collection = await existingCollection(db, options.collection)
    const cursor = collection.aggregate(pipeline, {
      ...(options.collation !== undefined && { collation: collationOf(options.collation) }),
      signal: interrupt.signal
    })
    return await printCursor(cursor, options, interrupt, aggregationText)
  }
})

/** Whether the pipeline, if it is valid, writes its results to a collection. */
function writes(pipeline: readonly Document[]): boolean {
  const last = pipeline.at(-1)
  return last !== undefined && ('$out' in last || '$merge' in last)
}
