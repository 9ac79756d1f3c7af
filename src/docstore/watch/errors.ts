/** Errors that only change streams raise, one factory per situation. */
import { PetalError } from '../../model/errors.ts'

export function historyLost(collection: string, maxBufferedBytes: number): PetalError {
  return new PetalError(
    'ChangeStreamHistoryLost',
    `The consumer of a change stream on '${collection}' fell behind by more than ${maxBufferedBytes} bytes: changes were lost`,
    { details: { collection, option: 'maxBufferedBytes', maxBufferedBytes } }
  )
}

export function streamClosed(): PetalError {
  return new PetalError('CursorNotFound', 'The change stream is closed')
}

/** @param option name of the driver's option */
export function cannotResume(option: string): PetalError {
  return new PetalError(
    'CommandNotSupported',
    `watch does not support the option ${option}: change streams only report what this process writes after the call`,
    { details: { option } }
  )
}

export function stageNotSupported(stage: string, position: number): PetalError {
  return new PetalError(
    'CommandNotSupported',
    `The pipeline of watch only supports the stages $match and $project, not ${stage}, at ${position}`,
    { details: { stage, position } }
  )
}

export function badPipeline(problem: string, details: Readonly<Record<string, unknown>> = {}): PetalError {
  return new PetalError('BadValue', `The pipeline of watch ${problem}`, { details })
}
