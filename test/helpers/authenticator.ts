/**
 * An authenticator app that shares no code with the product: `oathtool` computes the codes, `rsvg-convert` draws the QR
 * code and `zbarimg` reads it. It also holds the common ways to turn two-factor sign-in on.
 */
import { join } from 'node:path'
import { newEmail, type Person } from './api-client.ts'
import { newDirectory } from './run-directory.ts'
import { leaveWithoutProgram } from './server-process.ts'
import type { TestService } from './service.ts'

/** Returns the output of the program. */
function run(command: [string, ...string[]]): string {
  if (Bun.which(command[0]) === null) leaveWithoutProgram(command[0])
  const { exitCode, stdout, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stderr.toString()}`)
  return stdout.toString().trim()
}

export const PERIOD_MS = 30_000

/** The code of that secret (base32), some periods of 30 s from now. */
export function appCode(secret: string, now: Date, periods = 0): string {
  const seconds = Math.floor((now.getTime() + periods * PERIOD_MS) / 1000)
  return run(['oathtool', '--totp', '--base32', '--now', `@${seconds}`, secret])
}

/** Returns the text that a camera reads from an SVG picture. */
export async function readQr(svg: string): Promise<string> {
  const directory = newDirectory('qr')
  const [drawing, picture] = [join(directory, 'qr.svg'), join(directory, 'qr.png')]
  await Bun.write(drawing, svg)
  run(['rsvg-convert', '--output', picture, drawing])
  return run(['zbarimg', '--quiet', '--raw', picture])
}

export interface LogInAnswer {
  person: Person
  /** Access token. */
  bearer: string
}

/** Somebody with two-factor sign-in, and what they keep. */
export interface Protected extends LogInAnswer {
  recoveryCodes: string[]
}

type Api = Pick<TestService, 'post' | 'signedIn' | 'inbox'>

/** Two-factor sign-in with codes sent to that identifier. */
export async function protectBySentCodes(
  service: Api,
  identifier = newEmail(),
  device?: Record<string, string>,
): Promise<Protected> {
  const { person, bearer } = await service.signedIn(identifier, device)
  await service.post('2fa/enable', { password: person.password }, { bearer })
  const otp = await service.inbox.nextCode(identifier)
  const { body } = await service.post('2fa/enable/confirm', { otp }, { bearer })
  return { person, bearer, recoveryCodes: body.recovery_codes }
}

/** Two-factor sign-in with an app. The current code was used to confirm it; the next one is `appCode(secret, now, 1)`. */
export async function protectByApp(
  service: Api & Pick<TestService, 'clock'>,
  identifier = newEmail(),
  device?: Record<string, string>,
): Promise<Protected & { secret: string }> {
  const { person, bearer } = await service.signedIn(identifier, device)
  const { body } = await service.post('2fa/totp', { password: person.password }, { bearer })
  const otp = appCode(body.secret, service.clock.now())
  const confirmed = await service.post('2fa/totp/confirm', { otp }, { bearer })
  return { person, bearer, secret: body.secret, recoveryCodes: confirmed.body.recovery_codes }
}

/** The access token of a login with password and app; the code of each 30 s can be used once. */
export async function logInWithApp(
  service: Pick<TestService, 'post' | 'clock'>,
  { person, secret }: { person: Person; secret: string },
): Promise<string> {
  const answer = await service.post('2fa/verify', { ...person, otp: appCode(secret, service.clock.now()) })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body.access_token
}
