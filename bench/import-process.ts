/** The process of one side of the import comparison. */
import { type Importer, type ImportInput, type ImportTimes, prepareImport } from './import-once.ts'
import { serve } from './rpc.ts'

let run: (() => Promise<ImportTimes>) | undefined

const handlers = {
  async prepare({ importer, ...options }: ImportInput & { readonly importer: Importer }) {
    run = prepareImport(importer, options)
  },

  async run(): Promise<ImportTimes> {
    if (run === undefined) throw new TypeError('prepare first')
    return run()
  }
}

export type ImportHandlers = typeof handlers

serve(handlers)
