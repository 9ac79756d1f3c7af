/** The stores compared, each opened as its users would, with keys and values as bytes. */
import { mkdirSync } from 'node:fs'
import type { AbstractLevel } from 'abstract-level'

export const storeNames = ['lsm', 'classic-level'] as const

export type StoreName = (typeof storeNames)[number]

export type BytesLevel = AbstractLevel<unknown, Buffer, Buffer> & {
  getSync(key: Buffer): Buffer | undefined
  compactRange(start: Buffer, end: Buffer): Promise<void>
}

const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

/** Both stores have their default options. */
export async function openStore(name: StoreName, directory: string): Promise<BytesLevel> {
  mkdirSync(directory, { recursive: true })
  const db = await createStore(name, directory)
  await db.open()
  return db
}

async function createStore(name: StoreName, directory: string): Promise<BytesLevel> {
  switch (name) {
    case 'lsm': {
      // The built package, as users have it: in sources run by tsx, every closure is named whenever it is created.
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
