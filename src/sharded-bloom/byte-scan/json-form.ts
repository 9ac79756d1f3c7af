/** The forms in which bytes stand for documents, and the results of reading them. */

export type JsonForm =
  /** As JSON.parse reads it. */
  | 'json'
  /** As 'json', and the text of the top-level `_id` is an ObjectId. */
  | 'objectId'
  /** Extended JSON, without integers beyond 2^53 and without `$` keys other than wrappers of dates and ObjectIds. */
  | 'extended'
  /** As 'extended', without wrappers, and the text of the top-level `_id` is an ObjectId. */
  | 'extendedObjectId'
  /** As 'json', with wrappers of dates and ObjectIds. Other keys that begin with `$` are rejected. */
  | 'wrapped'

/** Forms in which documents are stored. */
export type RecordForm = Exclude<JsonForm, 'extended' | 'extendedObjectId'>

/** false when the pairs could not be determined from the bytes; otherwise the form in which they may be read again. */
export type AcceptedForm = false | RecordForm

/** @param hasWrappers the bytes were read, and have wrappers */
export function acceptedForm(form: JsonForm, hasWrappers: boolean): RecordForm {
  switch (form) {
    case 'extended':
      return hasWrappers ? 'wrapped' : 'json'
    case 'extendedObjectId':
      return 'objectId'
    default:
      return form
  }
}
