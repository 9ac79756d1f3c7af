/** Answers a call that has arguments to check. */
import { deliver } from '../model/time-slice.ts'
import { leadingToCaller } from './errors.ts'

/**
 * @param check checks the caller's arguments, when the call is made
 * @param run carries it out, in its turn
 */
export async function answerRequest<Request, R>(
  check: () => Request,
  run: (request: Request) => Promise<R>
): Promise<R> {
  try {
    return deliver(await run(check()))
  } catch (error) {
    throw await deliver(leadingToCaller(error))
  }
}
