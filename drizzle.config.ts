import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './src/platform/postgres/schema.ts',
  out: './drizzle',
})
