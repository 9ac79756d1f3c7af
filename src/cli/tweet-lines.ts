/** Writes generated tweets as lines. */
import type { Tweet } from '../workload/index.ts'
import type { LineWriter } from './line-writer.ts'

/** @throws the signal's reason if it fires between two lines */
export async function writeTweets(writer: LineWriter, tweets: Iterable<Tweet>, signal: AbortSignal): Promise<void> {
  for (const tweet of tweets) {
    const written = writer.write(JSON.stringify(tweet))
    if (written === undefined) continue
    await written
    signal.throwIfAborted()
  }
  await writer.flush()
}
