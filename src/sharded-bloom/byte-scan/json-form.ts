/** Documents as bytes: how these are to be read, and what came of it. */

export type JsonForm =
  /** As JSON.parse reads it. */
  | 'json'
  /** The text of its top-level `_id` is an ObjectId. */
  | 'objectId'
  /** Extended JSON: integers beyond 2^53 are not read, nor keys that begin with `$`, but for wrappers of dates and ObjectIds. */
  | 'extended'
  /** As 'extended', without wrappers; the text of the top-level `_id` is an ObjectId. */
  | 'extendedObjectId'
  /** As 'json', with wrappers of dates and ObjectIds. No other key that begins with `$` is read. */
  | 'wrapped'

/** As documents are stored. */
export type RecordForm = Exclude<JsonForm, 'extended' | 'extendedObjectId'>

/** false where bytes did not tell their document's pairs; else the form in which they may be read again. */
export type Told = false | RecordForm

/** @param hasWrappers the bytes were read, and have some */
export function toldForm(form: JsonForm, hasWrappers: boolean): RecordForm {
  switch (form) {
    case 'extended':
      return hasWrappers ? 'wrapped' : 'json'
    case 'extendedObjectId':
      return 'objectId'
    default:
      return form
  }
}
