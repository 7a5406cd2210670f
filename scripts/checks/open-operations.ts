/** Nobody opens an operation to everybody, or leaves it without a limit, by an oversight: it has to be named here. */
import { type Check, readFiles } from './source-files.ts'

const FILE = 'scripts/checks/open-operations.ts'

/** The operations that need no access token, by whether they can answer that somebody calls too often. */
const openOperations = {
  limited: [
    'register',
    'verifyAccount',
    'resendVerification',
    'resendConfirmation',
    'logIn',
    'sendCode',
    'signInWithCode',
    'forgotPassword',
    'resetPassword',
    'passkeyLogInOptions',
    'logInWithPasskey',
    'authorizeProvider',
    'finishProvider',
    'exchangeSocialCode',
    'signInNatively',
    'putReceipt',
    'putReceiptByQuery',
    'followEndedTokens',
    'authorizeApplication',
    'getApplicationTokens',
    'revokeApplicationToken',
  ],
  unlimited: [
    'healthz',
    'readyz',
    'getSettings',
    'listKeys',
    'describeIssuer',
    'describeIssuerToOpenId',
    'listProviders',
    'finishProviderByForm',
    'refresh',
    'logOut',
    'signOutOfBrowser',
  ],
}

interface Operation {
  operationId?: string
  security?: object[]
  responses?: Record<string, unknown>
}

type Paths = Record<string, Record<string, Operation>>

export const checkOpenOperations: Check = async () => {
  const [file] = await readFiles('docs/openapi.json')
  const { paths } = JSON.parse(file?.text ?? '{"paths":{}}') as { paths: Paths }
  return findUnnamed(paths)
}

export function findUnnamed(paths: Paths, named = openOperations): string[] {
  const found: typeof openOperations = { limited: [], unlimited: [] }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  for (const { operationId = '', security = [], responses = {} } of operations) {
    const needsToken = security.length > 0 && security.every((way) => 'accessToken' in way)
    if (!needsToken) found['429' in responses ? 'limited' : 'unlimited'].push(operationId)
  }
  return (['limited', 'unlimited'] as const).flatMap((kind) => [
    ...found[kind]
      .filter((name) => !named[kind].includes(name))
      .map((name) => `${FILE}: ${name} is ${kind} and needs no access token: name it, if that is meant`),
    ...named[kind]
      .filter((name) => !found[kind].includes(name))
      .map((name) => `${FILE}: ${name} is named as ${kind} and open, and is not`),
  ])
}
