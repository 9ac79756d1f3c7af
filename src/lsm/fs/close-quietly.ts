/** Closes what was only read, or whose bytes were synced or are not needed: a failure loses nothing. */
export function closeQuietly(file: { close(): void } | undefined): void {
  try {
    file?.close()
  } catch {
    // The descriptor is gone all the same.
  }
}
