/** Writes what is made from the table of the configuration: config.example.toml and docs/configuration.md. */
import { configExample, configPage } from '../src/platform/config/example.ts'

const top = new URL('..', import.meta.url)
await Bun.write(new URL('config.example.toml', top), configExample())
await Bun.write(new URL('docs/configuration.md', top), configPage())
console.log('wrote config.example.toml and docs/configuration.md')
