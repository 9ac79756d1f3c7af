/** Preloaded by --import: makes npm farmhash missing, as where it has no binary for the platform. */
import { register } from 'node:module'

const hooks = `export function resolve(specifier, context, next) {
  if (specifier !== 'farmhash') return next(specifier, context)
  throw Object.assign(new Error("Cannot find package 'farmhash'"), { code: 'ERR_MODULE_NOT_FOUND' })
}`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)
