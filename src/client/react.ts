/** `@poterne/client/react`. */
import { useSyncExternalStore } from 'react'
import type { Client, State } from './index.ts'

const LOADING: State = { status: 'loading', account: null }

/** Who is signed in, in a component that draws itself again when that changes. On a server nobody is known yet. */
export function useAuth(auth: Pick<Client, 'state' | 'subscribe'>): State {
  return useSyncExternalStore(
    auth.subscribe,
    () => auth.state,
    () => LOADING,
  )
}
