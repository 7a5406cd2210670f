/** Password, then an authenticator app or a passkey; an administrator without either sets up an app here. */
import { send, signWithPasskey } from './api.js'
import { keepButtons } from './dialogs.js'
import { breakable, button, element, say } from './elements.js'
import { field, form, showErrors } from './forms.js'
import { dayOf } from './times.js'

export function signInScreen(enter) {
  const box = element('div', { class: 'panel' })
  const submit = (label) => element('button', { type: 'submit', class: 'button wide' }, label)
  const heading = (text) => element('h1', { tabindex: '-1' }, text)
  /** As it was typed. */
  let person = ''

  function showStep(parts) {
    box.replaceChildren(...parts)
    box.querySelector('input')?.focus()
  }

  const password = () => [
    heading(say('sign_in')),
    element('p', { class: 'lead' }, say('sign_in_where', { service: say('service') })),
    form(
      [
        field('identifier', say('identifier'), {
          autocomplete: 'username webauthn',
          inputmode: 'email',
          required: true,
        }),
        field('password', say('password'), {
          type: 'password',
          autocomplete: 'current-password',
          required: true,
        }),
        submit(say('go_on')),
      ],
      async ({ identifier = '', password: typed = '' }) => {
        person = identifier
        const { methods } = await send('POST', 'session', { identifier, password: typed })
        showStep(methods.length > 0 ? secondFactor(methods) : await newApp())
      },
    ),
  ]

  const codeField = () =>
    field('otp', say('app_code'), {
      class: 'code',
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      maxlength: 9,
      required: true,
    })

  async function verify(proof) {
    const { recovery_codes: codes } = await send('POST', 'session/verify', proof)
    if (codes === undefined) return enter()
    // Says on paper and in the file whose codes these are.
    const whose = [say('service'), person, dayOf(Date.now())].join(' · ')
    showStep([
      heading(say('recovery_codes')),
      element('p', { class: 'lead' }, say('recovery_codes_why')),
      element('figure', {}, [
        element('figcaption', { class: 'small soft' }, breakable(whose)),
        element(
          'ul',
          { class: 'codes' },
          codes.map((code) => element('li', {}, code)),
        ),
      ]),
      keepButtons(codes.join('\n'), 'recovery-codes', `${whose}\n\n`),
      button(say('go_on'), enter, 'button wide'),
    ])
  }

  function secondFactor(methods) {
    const byCode = methods.includes('totp')
    const made = form(
      [
        byCode && codeField(),
        byCode && submit(say('sign_in')),
        methods.includes('passkey') && button(say('use_passkey'), usePasskey, 'button quiet wide', 'passkey'),
      ],
      ({ otp = '' }) => verify({ otp }),
    )
    async function usePasskey() {
      try {
        await verify({ credential: await signWithPasskey() })
      } catch (error) {
        showErrors(made, error)
      }
    }
    return [
      heading(say('second_step')),
      made,
      element(
        'p',
        { class: 'foot' },
        button(say('start_again'), () => showStep(password()), 'link'),
      ),
    ]
  }

  async function newApp() {
    const { secret, qr_svg: qr } = await send('POST', 'session/app')
    const picture = element('div', { class: 'qr', role: 'img', 'aria-label': say('qr_code') })
    picture.innerHTML = qr
    return [
      heading(say('set_up_app')),
      element('p', { class: 'lead' }, say('set_up_app_why')),
      picture,
      element('p', { class: 'hint any' }, [say('app_secret'), ' ', element('code', {}, secret)]),
      form([codeField(), submit(say('go_on'))], ({ otp = '' }) => verify({ otp })),
    ]
  }

  showStep(password())
  return [box]
}
