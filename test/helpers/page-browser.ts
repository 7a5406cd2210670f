/** A browser without script, as far as the pages need one: cookies, forms with their buttons, and redirects. */
import { readCookies } from '../../src/platform/http/redirect.ts'

export const PAGE_HOST = 'auth.example.com'
/** Settings of a service with pages. */
export const pageSettings = {
  server: { base_url: `https://${PAGE_HOST}` },
  pages: { enabled: true },
}

interface Button {
  label: string
  action: string
  name: string | undefined
  value: string | undefined
}

interface Form {
  id: string | null
  action: string
  fields: Record<string, string>
  /** The names of check boxes, ticked or not. */
  boxes: string[]
  buttons: Button[]
}

export interface PageBrowser {
  status: number
  headers: Headers
  html: string
  /** The same as it came. */
  source: string
  /** Path and query of the page that is shown. */
  address: string
  readonly path: string
  readonly title: string
  /** The text of what announces itself: notices and errors of fields. */
  readonly said: string
  forms: Form[]
  cookies: Map<string, string>
  open(path: string, headers?: Record<string, string>): Promise<PageBrowser>
  /** Fills the form that has the button, and presses it. `action`: how its address begins, where several have that label. */
  press(label: string, typed?: Record<string, string>, action?: string): Promise<PageBrowser>
  /** The same in any language: presses the first button that sends its form to this path. */
  send(path: string, typed?: Record<string, string>): Promise<PageBrowser>
  /** Sends a form as it is, following no redirect. */
  post(path: string, body: Record<string, string>, headers?: Record<string, string>): Promise<Response>
  /** The last redirect to another origin led there. */
  left: string | null
}

export interface PageBrowserOptions {
  host?: string
  language?: string
  headers?: Record<string, string>
}

export function openBrowser(url: string, options: PageBrowserOptions = {}): PageBrowser {
  const { host = PAGE_HOST, language = 'en', headers: always = {} } = options
  const cookies = new Map<string, string>()

  async function send(path: string, init: RequestInit, more: Record<string, string> = {}): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url + path, {
      ...init,
      redirect: 'manual',
      headers: {
        host,
        'accept-language': language,
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        ...(cookie && { cookie }),
        ...always,
        ...more,
      },
    })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1)
      const [[name, value] = ['', '']] = [...readCookies(pair)]
      if (/max-age=0\b/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }

  async function settle(browser: PageBrowser, first: Response, path: string): Promise<PageBrowser> {
    let [response, address] = [first, path]
    for (let steps = 0; response.status >= 300 && response.status < 400; steps++) {
      if (steps > 5) throw new Error(`more redirects than a page has: ${address}`)
      address = response.headers.get('location') ?? ''
      if (!address.startsWith('/')) {
        browser.left = address
        break
      }
      response = await send(address, {})
    }
    browser.address = address
    browser.status = response.status
    browser.headers = response.headers
    browser.source = await response.text()
    // A long address may break there: it is read as one text.
    browser.html = browser.source.replaceAll('<wbr>', '')
    browser.forms = await formsOf(browser.html, address)
    return browser
  }

  async function pressOne(
    browser: PageBrowser,
    name: string,
    typed: Record<string, string>,
    isMeant: (button: Button) => boolean,
  ): Promise<PageBrowser> {
    const forms = browser.forms.filter(({ buttons }) => buttons.some(isMeant))
    const form =
      forms.find(({ fields, boxes }) =>
        Object.keys(typed).every((name) => name in fields || boxes.includes(name)),
      ) ?? forms[0]
    const button = form?.buttons.find(isMeant)
    if (!form || !button) throw new Error(`the page "${browser.title}" has no button "${name}"`)
    const unknown = Object.keys(typed).find((name) => !(name in form.fields) && !form.boxes.includes(name))
    if (unknown) throw new Error(`the form of "${name}" has no field "${unknown}"`)
    const body = { ...form.fields, ...typed, ...(button.name && { [button.name]: button.value ?? '' }) }
    return settle(browser, await browser.post(button.action, body), button.action)
  }

  return {
    status: 0,
    headers: new Headers(),
    html: '',
    source: '',
    address: '',
    forms: [],
    cookies,
    left: null,
    get path() {
      return new URL(this.address, 'https://page').pathname
    },
    get title() {
      return (/<title>(.*?) · /.exec(this.html)?.[1] ?? '').replaceAll('&#39;', "'")
    },
    get said() {
      const parts = this.html.matchAll(
        /(?:role="(?:alert|status)"><svg.*?<\/svg><div><p[^>]*>|class="wrong" id="[a-z_]+-wrong"><svg.*?<\/svg><span>)(.*?)<\/(?:p|span>)/g,
      )
      return [...parts].map(([, text]) => text).join(' ')
    },
    async open(path, headers) {
      return settle(this, await send(path, {}, headers), path)
    },
    press(label, typed = {}, action = '') {
      return pressOne(
        this,
        label,
        typed,
        (button) => button.label === label && button.action.startsWith(action),
      )
    },
    send(path, typed = {}) {
      return pressOne(this, path, typed, ({ action }) => action.split('?')[0] === path)
    },
    post: (path, body, headers = {}) =>
      send(
        path,
        { method: 'POST', body: new URLSearchParams(body) },
        { 'sec-fetch-site': 'same-origin', ...headers },
      ),
  }
}

/** A button is known by its words: without the initial of a provider, the second line of a row, and what is only heard. */
const withLabels = (html: string) =>
  html
    .replaceAll(/<span class="logo initial"[^>]*>[^<]*<\/span>/g, '')
    .replaceAll(/<span class="hidden">[^<]*<\/span>/g, '')
    .replaceAll(/(<span class="text"><span>[^<]*<\/span>) <span>.*?<\/span>(?=<\/span>)/gs, '$1')

/** Check boxes that are not ticked are left out, as a browser does. */
async function formsOf(html: string, address: string): Promise<Form[]> {
  const forms: Form[] = []
  const placing: (() => void)[] = []
  let button: Button | null = null
  const rewriter = new HTMLRewriter()
    .on('form', {
      element: (form) =>
        void forms.push({
          id: form.getAttribute('id'),
          action: decode(form.getAttribute('action') ?? address),
          fields: {},
          boxes: [],
          buttons: [],
        }),
    })
    .on('form select', {
      element(select) {
        forms.at(-1)!.fields[select.getAttribute('name') ?? ''] = ''
      },
    })
    .on('form input', {
      element(input) {
        const [name, type] = [input.getAttribute('name'), input.getAttribute('type')]
        if (name && type === 'checkbox') forms.at(-1)!.boxes.push(name)
        if (!name || (type === 'checkbox' && !input.hasAttribute('checked'))) return
        forms.at(-1)!.fields[name] = decode(input.getAttribute('value') ?? '')
      },
    })
    .on('form button, button[form]', {
      element(element) {
        const [id, action] = [element.getAttribute('form'), element.getAttribute('formaction')]
        const pressed: Button = {
          label: '',
          action: decode(action ?? ''),
          name: element.getAttribute('name') ?? undefined,
          value: element.getAttribute('value') ?? undefined,
        }
        button = pressed
        const around = forms.at(-1)
        // A button may stand before its form.
        placing.push(() => {
          const form = forms.find((each) => id !== null && each.id === id) ?? around!
          if (action === null) pressed.action = form.action
          form.buttons.push(pressed)
        })
      },
      text(chunk) {
        if (button) button.label = decode(button.label + chunk.text)
      },
    })
  await rewriter.transform(new Response(withLabels(html))).text()
  for (const place of placing) place()
  return forms
}

const decode = (text: string) =>
  text
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** A page that leads on by itself leads there. */
export const nextOf = ({ html }: Pick<PageBrowser, 'html'>): string =>
  decode(/content="0;url=([^"]+)"/.exec(html)?.[1] ?? '')

/** Follows the way to a provider that asks nobody for a password, and back to the pages. `error`: it answers that. */
export async function passProvider(browser: PageBrowser, error?: string): Promise<PageBrowser> {
  const answered = await fetch(nextOf(browser), { redirect: 'manual' })
  const callback = new URL(answered.headers.get('location') ?? '')
  if (error !== undefined) {
    callback.searchParams.delete('code')
    callback.searchParams.set('error', error)
  }
  await browser.open(callback.pathname + callback.search)
  const back = new URL(browser.left ?? '')
  browser.left = null
  return browser.open(back.pathname + back.search)
}
