/** The limit of size and start: an Elysia executable that does nothing. */
import { Elysia } from 'elysia'

new Elysia({ serve: { reusePort: false } })
  .get('/readyz', () => ({ status: 'ok' }))
  .listen({ hostname: '127.0.0.1', port: Number(process.env.PORT) })
