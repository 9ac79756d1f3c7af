/** `petaldb get`: prints a document by its `_id`. */
import { ObjectId } from 'bson'
import { PetalError } from '../model/errors.ts'
import { parseJson, stringifyCanonical, stringifyRelaxed } from '../model/extended-json.ts'
import { command } from './command.ts'
import { existingCollection, openToRead } from './database.ts'
import { printLine } from './line-writer.ts'
import { hasColours, prettyJson } from './pretty-json.ts'

export const getCommand = command({
  name: 'get',
  summary: 'Prints the document with the given _id.',
  positionals: '<db> <id>',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to look in (default 'default')" },
    canonical: { type: 'boolean', help: 'print canonical Extended JSON, which keeps the type of every number' },
    json: { type: 'boolean', help: 'print one line even on a terminal' }
  },
  details: [
    'The id is parsed as Extended JSON if possible (7, "7", {"$oid": "…"}), and otherwise taken as text; 24 hexadecimal',
    'digits are also tried as an ObjectId. Put -- before a negative number.'
  ],
  async run([location = '', id = ''], options) {
    await using db = await openToRead(location)
    const collection = await existingCollection(db, options.collection)
    for (const candidate of possibleIds(id)) {
      const document = await collection.get(candidate)
      if (document === null || document === undefined) continue
      const line = options.canonical === true ? stringifyCanonical(document) : stringifyRelaxed(document)
      const isPretty = process.stdout.isTTY && options.json !== true
      await printLine(isPretty ? prettyJson(line, hasColours(process.stdout)) : line)
      return 0
    }
    process.stderr.write(`petaldb: there is no document with the _id ${id}\n`)
    return 1
  }
})

/** Returns the ids that a text may mean, the likeliest first. */
export function possibleIds(text: string): readonly unknown[] {
  if (!/^[0-9a-f]{24}$/i.test(text)) return [parseOrText(text)]
  return [ObjectId.createFromHexString(text), text, ...(/^\d+$/.test(text) ? [parseOrText(text)] : [])]
}

function parseOrText(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof PetalError) return text
    throw error
  }
}
