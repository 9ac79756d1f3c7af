/** The stores that are compared, each opened as its users would, with bytes in and bytes out. */
import { mkdirSync } from 'node:fs'
import type { AbstractLevel } from 'abstract-level'

export const storeNames = ['lsm', 'classic-level'] as const

export type StoreName = (typeof storeNames)[number]

export type BytesLevel = AbstractLevel<unknown, Buffer, Buffer> & {
  getSync(key: Buffer): Buffer | undefined
  compactRange(start: Buffer, end: Buffer): Promise<void>
}

const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

/** Defaults on both sides. */
export async function openStore(name: StoreName, directory: string): Promise<BytesLevel> {
  mkdirSync(directory, { recursive: true })
  const db = await createStore(name, directory)
  await db.open()
  return db
}

async function createStore(name: StoreName, directory: string): Promise<BytesLevel> {
  switch (name) {
    case 'lsm': {
      // As users have it: the sources, run by tsx, name each closure again whenever it is made.
      const built = new URL('../../dist/lsm.js', import.meta.url).href
      const { LsmLevel } = (await import(built)) as { LsmLevel: new (directory: string, options: object) => BytesLevel }
      return new LsmLevel(directory, encodings)
    }
    case 'classic-level': {
      const { ClassicLevel } = await import('classic-level')
      return new ClassicLevel(directory, encodings) as unknown as BytesLevel
    }
  }
}
