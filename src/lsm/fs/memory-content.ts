/**
 * The contents of a file in memory, with copy-on-write forks.
 *
 * Invariant: bytes of the buffer at and beyond `length` are zero, so that a file grows by zeros.
 */
export class MemoryContent {
  #buffer: Uint8Array = nothing
  #length = 0
  /** Another content uses this buffer: copy it before changing it. */
  #isShared = false

  get length(): number {
    return this.#length
  }

  fork(): MemoryContent {
    const fork = new MemoryContent()
    fork.#buffer = this.#buffer
    fork.#length = this.#length
    fork.#isShared = true
    this.#isShared = true
    return fork
  }

  read(target: Uint8Array, position: number): number {
    const end = Math.min(this.#length, position + target.length)
    if (end <= position) return 0
    target.set(this.#buffer.subarray(position, end))
    return end - position
  }

  write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return
    this.#ensureUnshared(Math.max(this.#length, position + bytes.length))
    this.#buffer.set(bytes, position)
    this.#length = Math.max(this.#length, position + bytes.length)
  }

  /** Truncates, or extends with zeros. */
  resize(length: number): void {
    const old = this.#length
    this.#length = Math.min(old, length)
    this.#ensureUnshared(length)
    if (length < old) this.#buffer.fill(0, length, old)
    this.#length = length
  }

  #ensureUnshared(capacity: number): void {
    if (!this.#isShared && capacity <= this.#buffer.length) return
    const isGrowing = capacity > this.#buffer.length
    const buffer = new Uint8Array(isGrowing ? Math.max(capacity, this.#buffer.length * 2, 256) : this.#buffer.length)
    buffer.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = buffer
    this.#isShared = false
  }
}

const nothing = new Uint8Array(0)
