/** The rows that each language has. */
import type { fr } from './fr.ts'
import type { MessageTexts } from './messages.ts'

/** The texts that each language must have: the rows of the French one. */
export type Texts = {
  [Part in keyof typeof fr]: Part extends 'messages'
    ? MessageTexts<keyof typeof fr.messages.codes, keyof typeof fr.messages.notices>
    : Record<keyof (typeof fr)[Part], string>
}
