/** `petaldb generate`: documents to try things out with. */
import { generateTweets } from '../workload/index.ts'
import { command } from './command.ts'
import { UsageError } from './errors.ts'
import { Interrupt } from './interrupt.ts'
import { LineWriter } from './line-writer.ts'
import { writeFile } from './output-file.ts'
import { wholeNumber } from './values.ts'

export const generateCommand = command({
  name: 'generate',
  summary: 'Writes made-up documents, the same ones for the same seed.',
  positionals: 'tweets',
  options: {
    count: { type: 'string', value: 'n', help: 'how many' },
    seed: { type: 'string', value: 's', help: 'another seed, other documents (default 1)' },
    out: { type: 'string', value: 'file', help: 'write to a file; compressed when its name ends in .gz' }
  },
  details: ['Without --out, to standard output. The file appears under its name when it is complete.'],
  async run([kind = ''], options) {
    if (kind !== 'tweets') throw new UsageError(`can generate tweets, not '${kind}'`)
    if (options.count === undefined) throw new UsageError('--count is missing')
    const count = wholeNumber('--count', options.count)
    const seed = wholeNumber('--seed', options.seed ?? '1')
    using interrupt = new Interrupt()
    const write = (writer: LineWriter): Promise<void> => writeTweets(writer, count, seed, interrupt.signal)
    try {
      if (options.out === undefined) await write(new LineWriter(process.stdout, 'standard output'))
      else await writeFile(options.out, write)
    } catch (error) {
      if (interrupt.status === undefined) throw error
      if (options.out !== undefined) process.stderr.write(`petaldb: interrupted; ${options.out} was not written\n`)
    }
    return interrupt.status ?? 0
  }
})

async function writeTweets(writer: LineWriter, count: number, seed: number, signal: AbortSignal): Promise<void> {
  for (const tweet of generateTweets({ count, seed })) {
    const written = writer.write(JSON.stringify(tweet))
    if (written === undefined) continue
    await written
    signal.throwIfAborted()
  }
  await writer.flush()
}
