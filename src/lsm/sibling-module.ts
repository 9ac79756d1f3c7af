/**
 * URLs of modules that another thread loads. In the sources such a module lies beside the one that names it, and in
 * the package all files share one directory (scripts/bundle.mjs): in both cases it is a sibling with the same
 * extension.
 */

export const bundleAdvice = 'petaldb loads some of its files by URL: a bundler must treat the package as external'

/**
 * @param moduleUrl import.meta.url of the calling module
 * @param name of the file, without its extension
 */
export function siblingModule(moduleUrl: string | undefined, name: string): string {
  if (moduleUrl === undefined) throw new Error(`${name} cannot be located: ${bundleAdvice}`)
  const ending = moduleUrl.slice(moduleUrl.lastIndexOf('.'))
  return new URL(`./${name}${ending}`, moduleUrl).href
}

/** Whether the module is a TypeScript source, which every thread needs a loader to run. */
export function isSource(moduleUrl: string): boolean {
  return moduleUrl.endsWith('.ts')
}
