/** The people whom `serve --dev --seed` made: the start page lists them, with all it takes to sign in. */
import { Secret, TOTP } from 'otpauth'

export interface DevPerson {
  /** The e-mail address or the phone number. */
  identifier: string
  /** Null where the file had only its hash. */
  password: string | null
  about: 'plain' | 'authenticator_app' | 'locked' | 'unconfirmed' | 'from_file'
  /** Base32; null for whoever has no authenticator app. */
  appSecret: string | null
  /** True for an owner of the page of administration. */
  isOwner?: boolean
}

/** The same secret at each start, so that its code can be shown after the next one as well. */
const APP_SECRET = Secret.fromUTF8('poterne --dev --seed').base32

const SEED_PASSWORD = 'a rather long sentence'

const person = (name: string, about: DevPerson['about']): DevPerson => ({
  identifier: `${name}@example.com`,
  password: SEED_PASSWORD,
  about,
  appSecret: null,
})

export const builtInPeople: DevPerson[] = [
  person('dora', 'plain'),
  { ...person('ada', 'authenticator_app'), appSecret: APP_SECRET, isOwner: true },
  person('bob', 'locked'),
  person('chloe', 'unconfirmed'),
]

/** The code that the app of this person shows at that time. */
export const appCodeAt = (appSecret: string, now: Date): string =>
  new TOTP({ secret: Secret.fromBase32(appSecret) }).generate({ timestamp: now.getTime() })
