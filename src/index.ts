export { errorCodes, PetalError } from './model/errors.ts'
