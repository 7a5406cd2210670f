/** Tokens of scripts and back ends. */
import { call, session } from './api.js'
import { announce, button, choice, dialog, element, field, say, showOnce, time } from './elements.js'
import { pagedTable } from './pages.js'

export async function tokensScreen(_search, refresh) {
  const columns = [
    [say('name'), ({ name }) => name],
    [say('scopes'), ({ scopes }) => element('code', {}, scopes.join(', '))],
    [say('addresses'), ({ addresses }) => addresses.join(', ')],
    [say('last_used'), ({ last_used_at: at }) => time(at)],
    [say('expires'), ({ expires_at: at }) => time(at)],
    ['', (token) => button(say('revoke'), () => revoke(token, refresh), 'small danger')],
  ]
  return [
    element('div', { class: 'row between' }, [
      element('h1', {}, say('tokens')),
      button(say('new_token'), () => createToken(refresh)),
    ]),
    element('div', { class: 'card' }, await pagedTable('tokens', {}, columns)),
  ]
}

async function createToken(refresh) {
  const scopes = session.scopes.map((scope) => choice(`scope ${scope}`, element('code', {}, scope)))
  const token = await dialog(
    say('new_token'),
    [
      field('name', say('name'), { required: true }),
      element('fieldset', {}, [element('legend', {}, say('scopes')), ...scopes]),
      field('expires_in', say('expires_in'), { value: '90d', hint: say('expires_in_hint') }),
      field('addresses', say('addresses'), { hint: say('addresses_hint') }),
    ],
    {
      label: say('create'),
      async submit({ name, expires_in, addresses, ...rest }) {
        const wanted = Object.keys(rest).map((key) => key.replace('scope ', ''))
        const body = { name: name ?? '', scopes: wanted, expires_in: expires_in ?? '90d' }
        if (addresses) body.addresses = addresses.split(/[\s,]+/).filter(Boolean)
        return (await call('POST', 'tokens', body)).token
      },
    },
  )
  if (!token) return
  showOnce(say('token_made'), [
    element('p', {}, say('shown_once')),
    element('p', {}, element('code', {}, typeof token === 'string' ? token : token.token)),
  ])
  refresh()
}

async function revoke({ id, name }, refresh) {
  const done = await dialog(say('revoke_token', { name }), element('p', {}, say('revoke_token_why')), {
    label: say('revoke'),
    danger: true,
    submit: () => call('DELETE', `tokens/${id}`),
  })
  if (!done) return
  announce(say('revoked_done', { name }))
  refresh()
}
