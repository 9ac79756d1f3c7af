/** `petaldb export`: writes a collection as newline-delimited Extended JSON. */
import type { Collection } from '../index.ts'
import { stringifyCanonical, stringifyRelaxed } from '../model/extended-json.ts'
import { command } from './command.ts'
import { existingCollection, openToRead } from './database.ts'
import { formatCount, formatDuration } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { LineWriter } from './line-writer.ts'
import { writeFile } from './output-file.ts'

export const exportCommand = command({
  name: 'export',
  summary: 'Writes the documents of a collection, the most recently written last, one line of Extended JSON each.',
  positionals: '<db> [file | -]',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to export (default 'default')" },
    canonical: { type: 'boolean', help: 'write canonical Extended JSON, which keeps the type of every number' }
  },
  details: [
    'Without a file, or with "-", the output goes to standard output. A file whose name ends in .gz is compressed. The file',
    'appears only when it is complete.'
  ],
  async run([location = '', path = '-'], options) {
    using interrupt = new Interrupt()
    await using db = await openToRead(location)
    const collection = await existingCollection(db, options.collection)
    const stringify = options.canonical === true ? stringifyCanonical : stringifyRelaxed
    const started = performance.now()
    try {
      if (path === '-') {
        await writeAll(collection, stringify, new LineWriter(process.stdout, 'standard output'), interrupt.signal)
      } else {
        const count = await writeFile(path, (writer) => writeAll(collection, stringify, writer, interrupt.signal))
        const time = formatDuration(performance.now() - started)
        process.stderr.write(`exported ${formatCount(count)} documents to ${path} in ${time}\n`)
      }
    } catch (error) {
      if (interrupt.status === undefined) throw error
      process.stderr.write(`petaldb: interrupted${path === '-' ? '' : `; ${path} was not written`}\n`)
    }
    return interrupt.status ?? 0
  }
})

type Stringify = (document: Readonly<Record<string, unknown>>) => string

async function writeAll(
  collection: Collection,
  stringify: Stringify,
  writer: LineWriter,
  signal: AbortSignal
): Promise<number> {
  let count = 0
  for await (const document of collection.find({}, { sort: { $natural: 1 }, signal })) {
    await writer.write(stringify(document))
    count++
  }
  await writer.flush()
  return count
}
