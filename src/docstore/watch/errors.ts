/** Errors that only change streams raise, one factory per situation. */
import { PetalError } from '../../model/errors.ts'

export function historyLost(collection: string, maxBufferedBytes: number): PetalError {
  return new PetalError(
    'ChangeStreamHistoryLost',
    `The consumer of a change stream over '${collection}' is behind by more than ${maxBufferedBytes} bytes: changes are lost`,
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
    `watch cannot take up earlier events, the option ${option}: change streams tell of what this process writes from the call on`,
    { details: { option } }
  )
}

export function stageNotSupported(stage: string, position: number): PetalError {
  return new PetalError(
    'CommandNotSupported',
    `The pipeline of watch has the stages $match and $project, not ${stage}, at ${position}`,
    { details: { stage, position } }
  )
}

export function badPipeline(problem: string, details: Readonly<Record<string, unknown>> = {}): PetalError {
  return new PetalError('BadValue', `The pipeline of watch ${problem}`, { details })
}
