/**
 * Debian's Chromium, in the build that has no windows at all: a test takes two thirds of the processor. Only the host names
 * that the test gives resolve; any certificate is accepted.
 */
import { existsSync } from 'node:fs'
import { type Browser, type CDPSession, chromium } from 'playwright-core'

const executablePath = '/usr/bin/chromium-headless-shell'

/** `hosts`: host name → `127.0.0.1:port`. */
export function launchBrowser(hosts: Record<string, string>): Promise<Browser> {
  if (!existsSync(executablePath)) {
    console.error(
      'chromium-headless-shell is not installed, the tests need it: apt-get install chromium-headless-shell',
    )
    process.exit(1)
  }
  const rules = [
    ...Object.entries(hosts).map(([host, address]) => `MAP ${host} ${address}`),
    'MAP * ~NOTFOUND',
    'EXCLUDE localhost',
    'EXCLUDE 127.0.0.1',
  ]
  return chromium.launch({
    executablePath,
    timeout: 30_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--ignore-certificate-errors',
      `--host-resolver-rules=${rules.join(', ')}`,
    ],
  })
}

/** An init script that takes away what Safari 16.4 lacks, as far as our pages were found to use it. */
export const asOldSafari = `
delete Map.groupBy
delete Object.groupBy
delete URLSearchParams.prototype.size
if (globalThis.PublicKeyCredential) {
  delete PublicKeyCredential.parseCreationOptionsFromJSON
  delete PublicKeyCredential.parseRequestOptionsFromJSON
  delete PublicKeyCredential.prototype.toJSON
}`

/** A platform authenticator that verifies its person, if `isUserVerified`, and answers at once; gives its id. */
export async function addPlatformAuthenticator(devtools: CDPSession, isUserVerified = true): Promise<string> {
  await devtools.send('WebAuthn.enable', { enableUI: false })
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  return authenticatorId
}
