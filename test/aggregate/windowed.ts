/** Runs `$setWindowFields` on its own. */
import { Expressions } from '../../src/aggregate/expression.ts'
import { compileWindows, WindowFields, type Windowing } from '../../src/aggregate/windows/stage.ts'
import type { Document } from '../../src/model/types.ts'

const place = { stage: '$setWindowFields', position: 0 }

export async function windowed(documents: readonly Document[], spec: Document): Promise<Document[]> {
  const expressions = new Expressions()
  let windowing: Windowing | undefined
  expressions.require(place, (compiler) => {
    windowing = compileWindows(spec, place, compiler)
  })
  await expressions.load()
  const stage = new WindowFields(windowing as Windowing)
  for (const document of documents) stage.add(document)
  return Array.from(stage.results()).filter((document) => document !== undefined)
}
