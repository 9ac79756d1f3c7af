/** Documents as lines on standard output. */
import { stringifyCanonical, stringifyRelaxed } from '../model/extended-json.ts'
import type { Document } from '../model/types.ts'
import type { LineWriter } from './line-writer.ts'
import { hasColours, prettyJson } from './pretty-json.ts'

/** One line of Extended JSON each, or, for people to read, several. */
export async function printDocuments(
  documents: AsyncIterable<Document>,
  options: { readonly canonical?: boolean; readonly json?: boolean },
  output: LineWriter
): Promise<void> {
  const stringify = options.canonical === true ? stringifyCanonical : stringifyRelaxed
  const isPretty = process.stdout.isTTY && options.json !== true
  for await (const document of documents) {
    const line = stringify(document)
    await output.write(isPretty ? prettyJson(line, hasColours(process.stdout)) : line)
  }
}
