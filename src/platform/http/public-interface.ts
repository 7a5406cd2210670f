/** The text that the description of the public interface has beside its operations. */
import { builtInTags, languageName } from '../../texts/languages.ts'
import type { InterfaceDescription } from './described-interface.ts'
import { journey } from './openapi-tags.ts'

const languageList = new Intl.ListFormat('en', { type: 'conjunction' }).format(builtInTags.map(languageName))

const introduction = `Registration, confirmation by one-time code, login and two-factor sign-in, by e-mail and by phone.

**The journey of a person**

1. \`POST /api/v1/auth/register\` with an e-mail address or a phone number: a code is sent there.
2. \`POST /api/v1/auth/verify-account\` with that code; with \`password\` and \`sign_in\` it also signs in.
3. \`POST /api/v1/auth/login\`: 200 with an access token and a refresh token, or 202 if a second factor is due.
4. After a 202: \`POST /api/v1/auth/2fa/verify\` with the code.
5. \`POST /api/v1/auth/refresh\` whenever the access token has expired. Each refresh token can be used once.
6. \`POST /api/v1/auth/logout\`.

**What holds everywhere**

- Success and error bodies are JSON, and their \`status\` is the HTTP status. Decide by the \`code\` of an error, which is
  stable, and show its \`message\`, which is in the language of Accept-Language: ${languageList}, or what
  the operator adds.
- Fields of a request that are not described are ignored, and new fields may come into answers.
- Access tokens are verified with the keys at [/.well-known/jwks.json](/.well-known/jwks.json).
- This document for generators: [/swagger/json](/swagger/json).`

export const publicInterface: InterfaceDescription = {
  introduction,
  tags: journey,
  securitySchemes: {
    accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    administrationToken: { type: 'http', scheme: 'bearer', description: 'A token of administration' },
  },
  complete: (gathered) => gathered,
}
