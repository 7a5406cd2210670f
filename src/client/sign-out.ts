import { type Answer, API, type Send } from './send.ts'
import { isOver, type Kept, type Session } from './session.ts'

type Refresh = (refreshToken: string) => Promise<Answer>

export const createSignOut =
  (session: Session, send: Send, refresh: Refresh) =>
  /** Forgets first: what the service answers changes nothing here. False where it did not hear of it. */
  async ({ everywhere = false } = {}): Promise<boolean> => {
    let held: Kept | null = null
    await session.update((now) => {
      held = now
      return null
    })
    if (!held) return true
    const { access_token: token, refresh_token } = held as Kept
    const end = (token: string) => send('POST', `${API}logout-all`, { body: {}, token })
    try {
      if (everywhere)
        await end(token).catch(async (error) => {
          if (!isOver(error)) throw error
          await end((await refresh(refresh_token)).access_token as string)
        })
      else await send('POST', `${API}logout`, { body: { refresh_token }, token })
      return true
    } catch {
      return false
    }
  }
