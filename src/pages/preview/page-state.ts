/** One picture of the preview. */
import type { Language } from '../../texts/languages.ts'
import type { Flow } from '../visits/flow.ts'
import type { Screen, View } from '../visits/service.ts'
import type { Drawing } from '../ways-in/screens.ts'

export interface PageState {
  name: string
  /** Shown without its files: the service fails. */
  bare?: boolean
  flow?: Flow
  draw(view: View & { language: Language }, drawing: Drawing): Promise<Screen> | Screen
}
