/**
 * The one door to the disk. Everything the store does to files goes through these two interfaces, so that a memory
 * file system that can crash, and a faulty one that fails the Nth call, can stand in for the real one.
 *
 * Calls are synchronous but for those that wait for the device, or take long: a write or a read of cached pages costs
 * about a microsecond, a hop through the thread pool ten; and the event loop must not be blocked.
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
  /** Created; fails with EEXIST when it is there. */
  | 'exclusive'

/** Errors are Node's own, with `code` ENOENT, EIO, ENOSPC, …; callers wrap them. */
export interface FileSystem {
  /** True when worker threads reach the same files by path: jobs may leave this thread. */
  readonly isShared: boolean
  open(path: string, mode: OpenMode): OpenFile
  /** Names in a directory, unsorted. @throws ENOENT */
  list(directory: string): string[]
  /** With its parents; fine when it exists. */
  makeDirectory(path: string): void
  /** Only when empty. */
  removeDirectory(path: string): void
  /** Bytes of a file, undefined when there is none. */
  size(path: string): number | undefined
  /** Replaces `to` when it is there. */
  rename(from: string, to: string): void
  /**
   * Gives a file a second name: a whole file appears at once, or not at all.
   * @throws EEXIST when `to` is there; EPERM, ENOTSUP or ENOSYS where files have one name only
   */
  link(from: string, to: string): void
  remove(path: string): void
  /** The same off the event loop: the blocks of a table take the system milliseconds. */
  removeLater(path: string): Promise<void>
  /** Makes names in the directory durable. */
  syncDirectory(path: string): Promise<void>
  /** The path without symbolic links; identifies a directory within the process. */
  realPath(path: string): string
}

export interface OpenFile {
  readonly path: string
  /** Fills as much of `target` as the file has from `position` on; returns the number of bytes. */
  read(target: Uint8Array, position: number): number
  /** Makes the next `read` of these bytes a fast one, off the event loop. Never rejects: that read will tell. */
  prepareRead(position: number, bytes: number): Promise<void>
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array, position: number): void
  size(): number
  truncate(bytes: number): void
  /** fdatasync, off the event loop. */
  sync(): Promise<void>
  /** fdatasync, waiting: for worker threads. */
  syncNow(): void
  /** Fine when called twice. */
  close(): void
}
