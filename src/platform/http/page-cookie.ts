/** The cookie of the page of administration. Scripts cannot read it, and browsers send it to the page's own requests alone. */
import { readCookies } from './redirect.ts'

export interface PageCookie {
  /** Undefined where the request brings none. */
  read(header: string | undefined): string | undefined
  /** A Set-Cookie header. */
  write(value: string, lifetimeMs: number): string
  remove(): string
}

/** `secure`: over TLS only, and never from another host of the domain (`__Host-`, which requires the whole host). */
export function createPageCookie({ secure }: { secure: boolean }): PageCookie {
  const name = secure ? '__Host-poterne_admin' : 'poterne_admin'
  const attributes = `Path=${secure ? '/' : '/admin'}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  const write = (value: string, lifetimeMs: number) =>
    `${name}=${value}; ${attributes}; Max-Age=${Math.floor(lifetimeMs / 1000)}`
  return {
    read: (header) => readCookies(header).get(name),
    write,
    remove: () => write('', 0),
  }
}
