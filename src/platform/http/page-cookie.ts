/** The cookies of the page of administration. Scripts cannot read them, and browsers send them to the page's own requests alone. */
import { readCookies } from './redirect.ts'

interface PageCookie {
  /** It is undefined if the request brings none. */
  read(header: string | undefined): string | undefined
  /** A Set-Cookie header. */
  write(value: string, lifetimeMs: number): string
  remove(): string
}

/** `secure`: over TLS only, and never from another host of the domain (`__Host-`, which requires the whole host). */
function createPageCookie(name: string, secure: boolean): PageCookie {
  const fullName = secure ? `__Host-${name}` : name
  const attributes = `Path=${secure ? '/' : '/admin'}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  const write = (value: string, lifetimeMs: number) =>
    `${fullName}=${value}; ${attributes}; Max-Age=${Math.floor(lifetimeMs / 1000)}`
  return {
    read: (header) => readCookies(header).get(fullName),
    write,
    remove: () => write('', 0),
  }
}

export interface PageCookies {
  /** Names the sign-in, and then the session. */
  session: PageCookie
  /** Names the browser, so that what strangers try does not refuse who signed in with it before. */
  device: PageCookie
}

export const createPageCookies = ({ secure }: { secure: boolean }): PageCookies => ({
  session: createPageCookie('poterne_admin', secure),
  device: createPageCookie('poterne_admin_device', secure),
})
