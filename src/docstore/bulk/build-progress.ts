/** Estimates how much of the units that threads are building is left. */

interface Build {
  readonly lines: number
  readonly startedAt: number
}

export class BuildProgress {
  readonly #builds = new Set<Build>()
  readonly #now: () => number
  /** What a line of the last complete unit took; undefined before there was one. */
  #lineMilliseconds: number | undefined

  /** @param now milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** A thread starts to build a unit of that many lines. @returns a function to be called when it is done */
  start(lines: number): () => void {
    const build = { lines, startedAt: this.#now() }
    this.#builds.add(build)
    return () => {
      this.#builds.delete(build)
      this.#lineMilliseconds = (this.#now() - build.startedAt) / lines
    }
  }

  /** For each unit being built: the lines left to build, all of them as long as no unit has been built. */
  readonly linesLeft = (): readonly number[] => {
    const now = this.#now()
    return Array.from(this.#builds, ({ lines, startedAt }) =>
      this.#lineMilliseconds === undefined ? lines : Math.max(0, lines - (now - startedAt) / this.#lineMilliseconds)
    )
  }
}
