/** The keys that sign tokens, under /admin/v1: seen, rotated, revoked. */
import { Elysia, t } from 'elysia'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { pageOf } from '../../domain/foundation/events/page.ts'
import type { AllKeys } from '../../domain/sessions/tokens/all-keys.ts'
import type { KeyDescription } from '../../domain/sessions/tokens/key-rotation.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { iso, isoOrNull, recordOf } from '../../platform/http/records.ts'
import { nullable, timeField } from '../../platform/http/schemas.ts'
import { AppError } from '../../texts/errors.ts'
import type { AdminBase } from '../access/access.ts'
import { detail } from '../access/operation-schema.ts'
import type { Once } from '../idempotency/service.ts'

const listed = recordOf<KeyDescription>()({
  kid: [t.String(), ({ kid }) => kid],
  algorithm: [t.String({ enum: ['ES256', 'RS256'] }), ({ algorithm }) => algorithm],
  state: [t.String(), ({ state }) => state],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
  signs_from: [timeField(), ({ signsFrom }) => iso(signsFrom)],
  published_until: [nullable(timeField()), ({ publishedUntil }) => isoOrNull(publishedUntil)],
})
const toKey = listed.read
const key = namedObject(
  'SigningKey',
  listed.fields,
  'A key that signs: access tokens by ES256, ID tokens and logout tokens by RS256.',
)

export type SigningKeyRecord = ReturnType<typeof toKey>

const IDENTITY_KEY = 'Null while no application is given ID tokens'

/** The record of a revocation that made no key. */
const NO_SUCCESSOR = 'no successor'
const UNKNOWN = 'no such key'

export function createSigningKeyRoutes(base: AdminBase, once: Once, keys: AllKeys) {
  async function keyOf(kid: string) {
    const found = (await keys.list()).find((one) => one.kid === kid)
    if (!found) throw new AppError('route_not_found')
    return toKey(found)
  }
  return new Elysia({ name: 'signing-keys', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/keys',
      async ({ query }) => {
        const page = pageOf(query, (await keys.list()).map(toKey), { list: 'keys', keyOf: orderOf })
        return success(page)
      },
      {
        query: t.Object(pageQuery),
        response: {
          200: listAnswer('SigningKeys', key, 'The signing keys, oldest first.'),
          ...errorResponses('validation_failed'),
        },
        detail: detail('listSigningKeys', 'List the signing keys'),
      },
    )
    .post(
      '/keys/rotate',
      ({ body, caller, headers, path }) =>
        once({
          ...{ headers, caller, path, body },
          async make() {
            const added = await keys.rotate({ atOnce: body.now === true })
            const [key, identityKey] = [toKey(added.key), added.identityKey && toKey(added.identityKey)]
            const id = identityKey === null ? key.kid : `${key.kid} ${identityKey.kid}`
            return { id, answer: success({ key, identity_key: identityKey }) }
          },
          async repeat(id) {
            const [kid, identityKid] = id.split(' ')
            const identityKey = identityKid === undefined ? null : await keyOf(identityKid)
            return success({ key: await keyOf(kid!), identity_key: identityKey })
          },
        }),
      {
        body: t.Object({ now: t.Optional(t.Boolean()) }),
        response: {
          200: answer(
            'SigningKeyAdded',
            { key, identity_key: t.Union([key, t.Null()], { description: IDENTITY_KEY }) },
            'The new key of access tokens, and that of ID tokens.',
          ),
          ...errorResponses(),
        },
        detail: detail('rotateSigningKey', 'Add a signing key'),
      },
    )
    .post(
      '/keys/revoke',
      ({ body, caller, headers, path }) =>
        once({
          ...{ headers, caller, path, body },
          async make() {
            const revoked = await keys.revoke(body.kid)
            const successor = revoked?.successor ? toKey(revoked.successor) : null
            return {
              id: successor?.kid ?? (revoked === null ? UNKNOWN : NO_SUCCESSOR),
              answer: success({ revoked: revoked !== null, successor }),
            }
          },
          repeat: async (kid) =>
            success({
              revoked: kid !== UNKNOWN,
              successor: kid === UNKNOWN || kid === NO_SUCCESSOR ? null : await keyOf(kid),
            }),
        }),
      {
        body: t.Object({ kid: t.String({ maxLength: 100 }) }),
        response: {
          200: answer(
            'SigningKeyRevoked',
            {
              revoked: t.Boolean({ description: 'False where there is no such key' }),
              successor: t.Union([key, t.Null()]),
            },
            'The key is unpublished and refused.',
          ),
          ...errorResponses(),
        },
        detail: detail('revokeSigningKey', 'Withdraw a signing key'),
      },
    )
}

const orderOf = ({ signs_from, kid }: ReturnType<typeof toKey>) => `${signs_from} ${kid}`
