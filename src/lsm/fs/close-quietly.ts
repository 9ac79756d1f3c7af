/** Closes a file that was only read, or whose contents are synced or not needed: a failure loses nothing. */
export function closeQuietly(file: { close(): void } | undefined): void {
  try {
    file?.close()
  } catch {
    // The descriptor is released even so.
  }
}
