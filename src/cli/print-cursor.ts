/** Prints the documents of a cursor, or its explanation, to standard output. */
import { stringifyCanonical, stringifyRelaxed } from '../model/extended-json.ts'
import type { Document } from '../model/types.ts'
import type { ExitStatus } from './command.ts'
import type { Interrupt } from './interrupt.ts'
import { LineWriter } from './line-writer.ts'
import { hasColours, prettyJson } from './pretty-json.ts'

/** A cursor of `find` or `aggregate`, which have different explanations. */
interface Explainable<Explanation> extends AsyncIterable<Document> {
  explain(): Promise<Explanation>
}

interface DocumentOptions {
  readonly canonical?: boolean
  readonly json?: boolean
}

/**
 * @param interrupt whose signal the cursor was created with
 * @param textOf formats an explanation for people
 */
export async function printCursor<Explanation>(
  cursor: Explainable<Explanation>,
  options: DocumentOptions & { readonly explain?: boolean },
  interrupt: Interrupt,
  textOf: (explanation: Explanation) => string
): Promise<ExitStatus> {
  const output = new LineWriter(process.stdout, 'standard output')
  try {
    if (options.explain === true) {
      const explanation = await cursor.explain()
      await output.write(options.json === true ? JSON.stringify(explanation) : textOf(explanation))
    } else {
      await writeDocuments(cursor, options, output)
    }
    await output.flush()
  } catch (error) {
    // What was found before stays visible. If the reader has gone, that must not hide the error.
    await output.flush().catch(() => {})
    if (interrupt.status === undefined) throw error
  }
  return interrupt.status ?? 0
}

/** Writes each document as one line of Extended JSON, or indented for people. */
async function writeDocuments(
  documents: AsyncIterable<Document>,
  options: DocumentOptions,
  output: LineWriter
): Promise<void> {
  const stringify = options.canonical === true ? stringifyCanonical : stringifyRelaxed
  const isPretty = process.stdout.isTTY && options.json !== true
  for await (const document of documents) {
    const line = stringify(document)
    await output.write(isPretty ? prettyJson(line, hasColours(process.stdout)) : line)
  }
}
