/** How often the event loop turns during a call, if the clock advances 3 ms each time it is read. */
export async function turnsDuring(call: () => Promise<unknown>): Promise<number> {
  const { now } = performance
  let time = now.call(performance)
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  performance.now = () => {
    time += 3
    return time
  }
  try {
    setImmediate(turn)
    await call()
  } finally {
    isOver = true
    performance.now = now
  }
  return turns
}
