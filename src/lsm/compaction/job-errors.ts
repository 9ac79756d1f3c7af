/** Errors of jobs: converts operating system errors to LEVEL_* errors, and errors to data that can cross threads. */
import { aborted, corruption, ioError, notSupported } from '../errors.ts'

/** An error without its class: survives structured clone with code, place and cause. */
export interface ErrorData {
  readonly message: string
  readonly code: string | undefined
  readonly path: string | undefined
  readonly offset: number | undefined
  readonly stack: string | undefined
  readonly cause: ErrorData | undefined
}

/** Maximum length of the chain of causes. */
const maxDepth = 5

/** LEVEL_* errors are kept, system errors become LEVEL_IO_ERROR; anything else is a bug and is kept. */
export function jobError(what: string, error: unknown, path: string): unknown {
  const { code } = describe(error)
  if (code === undefined || code.startsWith('LEVEL_')) return error
  return ioError(what, error, { path })
}

export function errorToData(error: unknown, depth = 0): ErrorData {
  const { code, path, offset, stack, cause } = describe(error)
  return {
    message: error instanceof Error ? error.message : String(error),
    code,
    path,
    offset,
    stack,
    cause: cause === undefined || depth === maxDepth ? undefined : errorToData(cause, depth + 1)
  }
}

export function errorFromData(data: ErrorData): Error {
  const cause = data.cause === undefined ? undefined : errorFromData(data.cause)
  const place = data.path === undefined ? undefined : placeOf(data.path, data.offset)
  const error = levelError(data, cause, place)
  error.message = data.message
  if (data.stack !== undefined) error.stack = data.stack
  return error
}

function levelError(data: ErrorData, cause: Error | undefined, place: ReturnType<typeof placeOf> | undefined): Error {
  switch (data.code) {
    case 'LEVEL_CORRUPTION':
      return corruption(data.message, place ?? { path: '' }, cause)
    case 'LEVEL_IO_ERROR':
      return ioError(data.message, cause, place)
    case 'LEVEL_NOT_SUPPORTED':
      return notSupported(data.message, cause)
    case 'LEVEL_ABORTED':
      return aborted(cause)
    default: {
      const error = cause === undefined ? new Error(data.message) : new Error(data.message, { cause })
      return Object.assign(error, data.code === undefined ? {} : { code: data.code }, place)
    }
  }
}

function placeOf(path: string, offset: number | undefined) {
  return offset === undefined ? { path } : { path, offset }
}

interface Described {
  readonly code: string | undefined
  readonly path: string | undefined
  readonly offset: number | undefined
  readonly stack: string | undefined
  readonly cause: unknown
}

function describe(error: unknown): Described {
  const fields = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const { code, path, offset, stack, cause } = fields
  return {
    code: typeof code === 'string' ? code : undefined,
    path: typeof path === 'string' ? path : undefined,
    offset: typeof offset === 'number' ? offset : undefined,
    stack: typeof stack === 'string' ? stack : undefined,
    cause
  }
}
