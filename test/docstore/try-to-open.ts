/** Runs as a process of its own: opens the database at its argument and prints the outcome. */
import { open, PetalError } from '../../src/index.ts'

try {
  const db = await open(process.argv[2] ?? '')
  await db.close()
  console.log('opened')
} catch (error) {
  const cause = error instanceof PetalError ? (error.cause as { code?: unknown } | undefined) : undefined
  console.log(error instanceof PetalError ? error.codeName : error, cause?.code)
  if (error instanceof PetalError) console.log(error.message)
}
