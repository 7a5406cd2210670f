/** The platforms for which `@node-rs/argon2` has an addon that this project uses, and the ends of its packages' names. */
const argon2Packages: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64-gnu',
  'linux-arm64': 'linux-arm64-gnu',
  'darwin-arm64': 'darwin-arm64',
}

/**
 * The path of the addon inside the package that the package manager installed in a folder above `from`; null without
 * one for this platform.
 */
export function findArgon2Addon(platform: string, from = import.meta.dir): string | null {
  const name = argon2Packages[platform]
  if (name === undefined) return null
  try {
    return Bun.resolveSync(`@node-rs/argon2-${name}`, from)
  } catch {
    return null
  }
}
