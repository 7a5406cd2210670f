/** The groups of operations, in the order in which somebody who builds a client meets them. */

export interface Tag {
  name: string
  description: string
}

export const journey: Tag[] = [
  { name: 'Registration', description: 'Create an account and confirm it with the code that was sent.' },
  { name: 'Login', description: 'Sign in with a password, with a code, or with both.' },
  {
    name: 'Sessions',
    description: 'Refresh the tokens, sign out, list and end the signed-in devices.',
  },
  { name: 'Account', description: 'The account of the person who is signed in.' },
  { name: 'Contacts', description: 'The e-mail address and the phone number of the account.' },
  { name: 'Passwords', description: 'Change the password, or choose a new one when it is forgotten.' },
  { name: 'Two factors', description: 'Turn the second factor on and off; recovery codes.' },
  { name: 'Passkeys', description: 'Sign in with a passkey; add, rename and remove passkeys.' },
  { name: 'Social login', description: 'Sign in through another provider; link and unlink it.' },
  {
    name: 'Hand-over',
    description:
      'Applications get who signed in on the pages: the authorization code flow of OAuth with PKCE, and OpenID Connect.',
  },
  { name: 'Keys', description: 'What your services need to verify access tokens.' },
  { name: 'Operation', description: 'For load balancers and supervisors.' },
]

/** Those of the journey that are used, then any others in the order of their first use. */
export function orderTags(used: string[], journey: Tag[]): Tag[] {
  const others = [...new Set(used)].filter((name) => !journey.some((tag) => tag.name === name))
  return [
    ...journey.filter(({ name }) => used.includes(name)),
    ...others.map((name) => ({ name, description: `${name}.` })),
  ]
}
