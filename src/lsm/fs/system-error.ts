/** Creates errors in the form of Node's file system errors, for other file systems. */

const descriptions = {
  EBADF: 'bad file descriptor',
  EEXIST: 'file already exists',
  EINVAL: 'invalid argument',
  EIO: 'i/o error',
  EISDIR: 'illegal operation on a directory',
  EMFILE: 'too many open files',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
  EXDEV: 'cross-device link not permitted'
} as const

export type SystemErrorCode = keyof typeof descriptions

export function systemError(code: SystemErrorCode, syscall: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${descriptions[code]}, ${syscall} '${path}'`), { code, syscall, path })
}

/** True if the error has one of these operating system codes. */
export function hasSystemCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = (error as Partial<NodeJS.ErrnoException> | null | undefined)?.code
  return code !== undefined && codes.includes(code)
}

/** True if something failed because the process or the system has as many files open as it may have. */
export function isOutOfDescriptors(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (hasSystemCode(error, 'EMFILE', 'ENFILE')) return true
  // A thread takes a few descriptors to start; the system's code is only in the message.
  const isOfThread = hasSystemCode(error, 'ERR_WORKER_INIT_FAILED') && /\bE[MN]FILE\b/.test(error.message)
  return isOfThread || isOutOfDescriptors(error.cause)
}
