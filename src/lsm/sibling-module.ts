/**
 * URLs of modules that another thread loads by itself. In the sources such a module lies beside the one that names it, and
 * in the package all files lie in one directory (scripts/bundle.mjs): both times it is a sibling, with the same ending.
 */

/**
 * @param moduleUrl import.meta.url of the one that asks
 * @param name of the file, without its ending
 */
export function siblingModule(moduleUrl: string, name: string): string {
  const ending = moduleUrl.slice(moduleUrl.lastIndexOf('.'))
  return new URL(`./${name}${ending}`, moduleUrl).href
}

/** Whether it is one of the sources, which need the loader that runs them in every thread. */
export function isSource(moduleUrl: string): boolean {
  return moduleUrl.endsWith('.ts')
}
