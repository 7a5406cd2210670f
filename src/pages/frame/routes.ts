/** The files that pages load. Their names change with their content, so browsers may keep them. */
import { Elysia } from 'elysia'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { PICTURE_POLICY } from '../../platform/look/logo.ts'
import type { Frame } from './frame.ts'

export function createFrameRoutes(httpBase: HttpBase, { assets }: Frame) {
  const routes = new Elysia({ name: 'frame' }).use(httpBase)
  for (const { path, type, content } of assets) {
    const headers = {
      'content-type': type,
      'content-security-policy': PICTURE_POLICY,
      'cache-control': 'public, max-age=31536000, immutable',
    }
    routes.get(path, () => new Response(content, { headers }), { detail: { hide: true } })
  }
  return routes
}
