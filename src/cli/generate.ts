/** `petaldb generate`: documents to try things out with. */
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { generateTweets } from '../workload/index.ts'
import { command } from './command.ts'
import { ClosedPipe, FileError, isSystemError, UsageError } from './errors.ts'
import { wholeNumber } from './values.ts'

const linesPerPiece = 64

export const generateCommand = command({
  name: 'generate',
  summary: 'Writes made-up documents, the same ones for the same seed.',
  positionals: '<tweets>',
  options: {
    count: { type: 'string', value: 'n', help: 'how many' },
    seed: { type: 'string', value: 's', help: 'another seed, other documents (default 1)' },
    out: { type: 'string', value: 'file', help: 'write to a file; compressed when its name ends in .gz' }
  },
  async run([kind = ''], options) {
    if (kind !== 'tweets') throw new UsageError(`can generate tweets, not '${kind}'`)
    if (options.count === undefined) throw new UsageError('--count is missing')
    const count = wholeNumber('--count', options.count)
    const seed = wholeNumber('--seed', options.seed ?? '1')
    const name = options.out ?? 'standard output'
    const output = options.out === undefined ? process.stdout : createWriteStream(options.out)
    try {
      if (options.out?.endsWith('.gz')) await pipeline(tweetLines(count, seed), createGzip(), output)
      else await pipeline(tweetLines(count, seed), output, { end: options.out !== undefined })
    } catch (error) {
      throw isSystemError(error) && error.code === 'EPIPE' ? new ClosedPipe(error) : new FileError('write', name, error)
    }
    return 0
  }
})

function* tweetLines(count: number, seed: number): Generator<string, void, undefined> {
  let piece = ''
  let lines = 0
  for (const tweet of generateTweets({ count, seed })) {
    piece += `${JSON.stringify(tweet)}\n`
    if (++lines % linesPerPiece !== 0) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
