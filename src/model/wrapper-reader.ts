/**
 * Converts one Extended JSON wrapper object to its value: canonical, relaxed, and the older `$binary`/`$type` and
 * plain `$date` forms. `$regex`, `$ref` and `$id` are not wrappers here: they are a query operator and ordinary
 * fields.
 */
import { Binary, BSONRegExp, Code, Decimal128, MaxKey, MinKey, ObjectId, Timestamp, UUID } from 'bson'
import { PetalError } from './errors.ts'
import { type Document, isPlainObject, typeNames, typeOf } from './types.ts'

const maxUint32 = 2 ** 32 - 1

/**
 * @param name the wrapper's first key
 * @param unwrap converts a document inside a wrapper: the scope of `$code`
 * @throws PetalError FailedToParse naming the wrapper and the type of its content
 */
export function readWrapper(
  object: Document,
  name: string,
  depth: number,
  unwrap: (value: unknown, depth: number) => unknown
): unknown {
  const content = object[name]
  switch (name) {
    case '$oid':
      return new ObjectId(matching(content, name, /^[0-9a-f]{24}$/i))
    case '$date':
      return readDate(content)
    case '$numberInt':
    case '$numberDouble':
      return readDouble(content, name)
    case '$numberLong':
      return readInt64(content, name)
    case '$numberDecimal':
      return orFail(name, content, () => Decimal128.fromString(text(content, name)))
    case '$binary':
    case '$type':
      return readBinary(object)
    case '$uuid':
      return orFail(name, content, () => new UUID(text(content, name)))
    case '$regularExpression':
      return readRegex(content)
    case '$timestamp':
      return readTimestamp(content)
    case '$minKey':
      return new MinKey()
    case '$maxKey':
      return new MaxKey()
    case '$code':
    case '$scope':
      return readCode(object, depth, unwrap)
    case '$symbol':
      return text(content, name)
    case '$undefined':
      return null
    default:
      throw malformed(name, content)
  }
}

/** Standard base64 of the bytes. */
export function base64Of(bytes: Uint8Array): string {
  return new Binary(bytes).toString('base64')
}

function readDate(content: unknown): Date {
  let date: Date
  if (typeof content === 'string') date = new Date(content)
  else if (typeof content === 'number') date = new Date(content)
  else if (isPlainObject(content)) date = new Date(Number(readInt64(content.$numberLong, '$date')))
  else throw malformed('$date', content)
  if (Number.isNaN(date.getTime())) throw malformed('$date', content)
  return date
}

function readDouble(content: unknown, name: string): number {
  if (typeof content === 'number') return content
  if (content === 'NaN') return Number.NaN
  const value = Number(matching(content, name, /^-?(Infinity|\d+(\.\d*)?(e[+-]?\d+)?)$/i))
  if (name === '$numberInt' && (value | 0) !== value) throw malformed(name, content)
  return value
}

function readInt64(content: unknown, name: string): bigint {
  // A long integer in a wrapper that takes a bare one: see long-integers.ts.
  if (isPlainObject(content) && typeof content.$numberLong === 'string') return readInt64(content.$numberLong, name)
  const value = Number.isInteger(content)
    ? BigInt(content as number)
    : BigInt(matching(content, name, /^[+-]?\d{1,19}$/).replace('+', ''))
  if (BigInt.asIntN(64, value) !== value) throw malformed(name, content)
  return value
}

function readBinary(object: Document): Binary | Uint8Array {
  const content = object.$binary
  const isLegacy = typeof content === 'string'
  const parts: Document = isLegacy
    ? { base64: content, subType: object.$type ?? '00' }
    : isPlainObject(content)
      ? content
      : {}
  const base64 = matching(parts.base64, '$binary', /^[A-Za-z0-9+/]*={0,2}$/)
  const subType = matching(parts.subType, '$binary', /^[0-9a-f]{1,2}$/i)
  const binary = Binary.createFromBase64(base64, Number.parseInt(subType, 16))
  // See wrapBinary: a Uint8Array is written as a single 0. The copy releases the decoder's shared buffer.
  if (subType === '0' && !isLegacy) return Uint8Array.from(binary.value())
  return binary.sub_type === Binary.SUBTYPE_UUID && binary.length() === 16 ? binary.toUUID() : binary
}

/** A RegExp if JavaScript can represent exactly this pattern and these flags. */
function readRegex(content: unknown): RegExp | BSONRegExp {
  if (!isPlainObject(content)) throw malformed('$regularExpression', content)
  const pattern = text(content.pattern, '$regularExpression')
  const options = text(content.options ?? '', '$regularExpression')
  if (/^[imsu]*$/.test(options)) {
    try {
      const regex = new RegExp(pattern, options)
      if (regex.source === pattern && regex.flags === options) return regex
    } catch {
      // A pattern that only PCRE understands remains a BSONRegExp.
    }
  }
  return orFail('$regularExpression', content, () => new BSONRegExp(pattern, options))
}

function readTimestamp(content: unknown): Timestamp {
  if (!isPlainObject(content)) throw malformed('$timestamp', content)
  const { t, i } = content
  if (!isUint32(t) || !isUint32(i)) throw malformed('$timestamp', content)
  return new Timestamp({ t, i })
}

function isUint32(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxUint32
}

function readCode(object: Document, depth: number, unwrap: (value: unknown, depth: number) => unknown): Code {
  const code = text(object.$code, '$code')
  const scope = object.$scope
  if (scope === undefined) return new Code(code)
  if (!isPlainObject(scope)) throw malformed('$scope', scope)
  return new Code(code, unwrap(scope, depth + 1) as Document)
}

function text(content: unknown, name: string): string {
  if (typeof content !== 'string') throw malformed(name, content)
  return content
}

function matching(content: unknown, name: string, pattern: RegExp): string {
  if (!pattern.test(text(content, name))) throw malformed(name, content)
  return content as string
}

function orFail<T>(name: string, content: unknown, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw malformed(name, content, cause)
  }
}

function malformed(name: string, content: unknown, cause?: unknown): PetalError {
  const shown = typeof content === 'string' && content.length <= 60 ? ` ${JSON.stringify(content)}` : ''
  return new PetalError('FailedToParse', `${name} cannot hold this ${typeNames[typeOf(content)]}${shown}`, {
    cause,
    details: { operator: name }
  })
}
