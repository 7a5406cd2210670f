/** The icon that browsers ask for by themselves, whatever they opened: a gate. */
import { Elysia } from 'elysia'
import { hidden } from './route-traits.ts'

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f5f6b"/><path d="M9 27V14a7 7 0 0 1 14 0v13h-5V15a2 2 0 0 0-4 0v12z" fill="#fff"/></svg>'

const headers = {
  'content-type': 'image/svg+xml',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'public, max-age=86400',
}

export const createIconRoute = () =>
  new Elysia({ name: 'icon' }).get('/favicon.ico', () => new Response(ICON, { headers }), hidden())
