/** `petaldb generate`: generates sample documents. */
import { PetalError } from '../model/errors.ts'
import { parseJson } from '../model/extended-json.ts'
import { isPlainObject } from '../model/types.ts'
import type { TweetSample } from '../workload/index.ts'
import { command } from './command.ts'
import { UsageError } from './errors.ts'
import { Interrupt } from './interrupt.ts'
import { LineWriter } from './line-writer.ts'
import { writeFile } from './output-file.ts'
import { Source } from './source.ts'
import { writeTweets } from './tweet-lines.ts'
import { wholeNumber } from './values.ts'

export const generateCommand = command({
  name: 'generate',
  summary: 'Generates sample documents; the same seed always gives the same documents.',
  positionals: 'tweets',
  options: {
    count: { type: 'string', value: 'n', help: 'number of documents' },
    seed: { type: 'string', value: 's', help: 'seed of the generated documents (default 1)' },
    sample: {
      type: 'string',
      value: 'file',
      help: 'draw words, hashtags and users from these tweets (NDJSON, optionally compressed with gzip)'
    },
    out: { type: 'string', value: 'file', help: 'write to this file, compressed if its name ends in .gz' }
  },
  details: ['Without --out, or with -, writes to standard output. The file appears only when it is complete.'],
  async run([kind = ''], options) {
    if (kind !== 'tweets') throw new UsageError(`can only generate tweets, not '${kind}'`)
    if (options.count === undefined) throw new UsageError('--count is missing')
    const count = wholeNumber('--count', options.count)
    const seed = wholeNumber('--seed', options.seed ?? '1')
    const out = options.out === '-' ? undefined : options.out
    using interrupt = new Interrupt()
    try {
      // Imported lazily: loading it generates its vocabulary, which other commands need not wait for.
      const workload = await import('../workload/index.ts')
      const sample =
        options.sample === undefined
          ? undefined
          : await readSample(new workload.TweetSample(), options.sample, interrupt.signal)
      const tweets = workload.generateTweets({ count, seed, sample })
      const write = (writer: LineWriter): Promise<void> => writeTweets(writer, tweets, interrupt.signal)
      if (out === undefined) await write(new LineWriter(process.stdout, 'standard output'))
      else await writeFile(out, write)
    } catch (error) {
      if (interrupt.status === undefined) throw error
      if (out !== undefined) process.stderr.write(`petaldb: interrupted; ${out} was not written\n`)
    }
    return interrupt.status ?? 0
  }
})

/**
 * Adds the tweets of a file, skipping lines that are not tweets. @throws PetalError FailedToParse for a file without
 * tweets
 */
async function readSample(sample: TweetSample, path: string, signal: AbortSignal): Promise<TweetSample> {
  const source = await Source.open(path, signal)
  let tweets = 0
  for await (const { line } of source.lines()) if (addLine(sample, line)) tweets++
  signal.throwIfAborted()
  if (tweets > 0) return sample
  throw new PetalError('FailedToParse', `${path} contains no tweets, that is, lines of JSON with a 'text'`)
}

function addLine(sample: TweetSample, line: string): boolean {
  try {
    const tweet = parseJson(line)
    return isPlainObject(tweet) && sample.add(tweet)
  } catch (error) {
    if (!(error instanceof PetalError)) throw error
    return false
  }
}
