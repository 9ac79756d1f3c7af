/**
 * The only access to the disk. All file operations of the store go through these two interfaces, so that a memory file
 * system that can crash, and a faulty one that fails the Nth call, can replace the real one.
 *
 * Calls are synchronous unless they wait for the device or take long: writing or reading cached pages costs about a
 * microsecond, a hop through the thread pool ten; and the event loop must not be blocked.
 *
 * What a crash may do, and what the rest of the store relies on:
 * 1. Bytes of a file are durable once a `sync` of that file that began after their write has ended.
 * 2. A name (created, renamed, removed) is durable once a `syncDirectory` of its directory that began after it ended.
 * 3. Everything else may be lost, torn at any byte and reordered. A rename itself is atomic.
 * 4. A failed sync is never retried: what it left on the device is unknown.
 */

export type OpenMode =
  /** Must exist; cannot be written. */
  | 'read'
  /** Created or truncated; can be read back. */
  | 'create'
  /** Must exist; written in place (a recycled log). */
  | 'update'
  /** Created; fails with EEXIST if it exists. */
  | 'exclusive'

/** Errors are Node's own, with `code` ENOENT, EIO, ENOSPC, …; callers wrap them. */
export interface FileSystem {
  /** True if worker threads can access the same files by path: jobs may run there. */
  readonly isShared: boolean
  open(path: string, mode: OpenMode): OpenFile
  /** Names in a directory, unsorted. @throws ENOENT */
  list(directory: string): string[]
  /** Also creates missing parents; does nothing if it exists. */
  makeDirectory(path: string): void
  /** Only if empty. */
  removeDirectory(path: string): void
  /** Size of a file; undefined if it does not exist. */
  size(path: string): number | undefined
  /** Replaces an existing `to`. */
  rename(from: string, to: string): void
  /**
   * Gives a file a second name: a complete file appears atomically.
   * @throws EEXIST if `to` exists; EPERM, ENOTSUP or ENOSYS if files can have only one name
   */
  link(from: string, to: string): void
  remove(path: string): void
  /** As remove(), off the event loop: freeing the blocks of a table takes the system milliseconds. */
  removeLater(path: string): Promise<void>
  /** Makes the names in the directory durable. */
  syncDirectory(path: string): Promise<void>
  /** The path with symbolic links resolved; identifies a directory within the process. */
  realPath(path: string): string
}

export interface OpenFile {
  readonly path: string
  /** Fills as much of `target` as the file has from `position` on; returns the number of bytes read. */
  read(target: Uint8Array, position: number): number
  /** Makes the next `read` of these bytes fast, off the event loop. Never rejects: that read will report errors. */
  prepareRead(position: number, bytes: number): Promise<void>
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array, position: number): void
  size(): number
  /** Whether the path is a name of this very file, and not of another one that has its name now. */
  isAt(path: string): boolean
  truncate(bytes: number): void
  /** fdatasync, off the event loop. */
  sync(): Promise<void>
  /** fdatasync, blocking: for worker threads. */
  syncNow(): void
  /** May be called twice. */
  close(): void
}
