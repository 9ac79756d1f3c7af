/** Plays random histories, each with a seed of its own; the error of one that fails names it. */
import { createRandom, type Random } from '../bloom/random.ts'

export async function playHistories<P extends { play(): Promise<void> }>(
  count: number,
  seed: number,
  playerFor: (random: Random) => P,
  onPlayed: (player: P) => void
): Promise<void> {
  for (let history = 0; history < count; history++) {
    const player = playerFor(createRandom(seed + history))
    try {
      await player.play()
    } catch (error) {
      throw new Error(`seed ${seed + history}: ${(error as Error).stack}`, { cause: error })
    }
    onPlayed(player)
  }
}
