/** Loads configurations from a directory of the test's own, without the environment of the test process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadOptions, loadConfig } from '../../src/platform/config/load.ts'
import { describeProblem } from '../../src/platform/config/report.ts'
import type { Config } from '../../src/platform/config/types.ts'

export interface ConfigDirectory {
  path: string
  /** The path of the file written. */
  write(name: string, text: string | Uint8Array): string
  configOf(options?: Partial<LoadOptions>): Config
  problemsOf(options?: Partial<LoadOptions>): string[]
  remove(): void
}

export function createConfigDirectory(): ConfigDirectory {
  const path = mkdtempSync(join(tmpdir(), 'poterne-config-'))
  const load = (options: Partial<LoadOptions> = {}) =>
    loadConfig({ env: {}, directory: path, mustDeliver: false, ...options })
  return {
    path,
    write(name, text) {
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
    configOf(options) {
      const loaded = load(options)
      if (!loaded.ok) throw new Error(loaded.problems.map(describeProblem).join('\n'))
      return loaded.config
    },
    problemsOf(options) {
      const loaded = load(options)
      return loaded.ok ? [] : loaded.problems.map(describeProblem)
    },
    remove: () => rmSync(path, { recursive: true }),
  }
}

/** A whole [smtp] in which `lines` win. */
export function smtp(lines: string): string {
  const needed = Object.entries({ host: '"smtp.acme.test"', from: '"a@acme.test"' })
  const given = needed.filter(([key]) => !new RegExp(`^${key} `, 'm').test(lines))
  return `[smtp]\n${given.map(([key, value]) => `${key} = ${value}\n`).join('')}${lines}\n`
}

/** A whole [[sms.gateways]] in which `lines` win. */
export function gateway(lines: string, name = 'acme'): string {
  const needed = {
    name: `"${name}"`,
    url: '"https://sms.acme.test/"',
    body: '{ to = "{to}", text = "{text}" }',
  }
  const given = Object.entries(needed).filter(([key]) => !new RegExp(`^${key} `, 'm').test(lines))
  return `[[sms.gateways]]\n${given.map(([key, value]) => `${key} = ${value}\n`).join('')}${lines}\n`
}

/** A [[social.providers]] that `lines` make whole. */
export const provider = (lines: string) => `[[social.providers]]\nclient_id = "id"\n${lines}\n`
