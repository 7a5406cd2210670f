/**
 * The layout of e-mails: HTML with placeholders, the built-in one or the operator's own. All values come escaped. A
 * brace that is not around a lower-case word belongs to the style sheet and is left alone.
 */

/** The built-in layout uses all of them but `service`, `logo_url` and `subject` outside of the title. */
const layoutPlaceholders = [
  'content',
  'header',
  'footer',
  'subject',
  'service',
  'logo_url',
  'colour',
  'language',
  'direction',
  'start',
] as const
type LayoutValues = Record<(typeof layoutPlaceholders)[number], string>

const mark = /\{([a-z_]+)\}/g
const isKnown = (name: string): name is keyof LayoutValues => layoutPlaceholders.some((each) => each === name)

export function fillLayout(html: string, values: LayoutValues): string {
  return html.replace(mark, (found, name: string) => (isKnown(name) ? values[name] : found))
}

/** It returns null if the layout can be used. */
export function findLayoutProblem(html: string): string | null {
  const names = [...html.matchAll(mark)].map(([, name]) => name as string)
  const unknown = names.find((name) => !isKnown(name))
  if (unknown !== undefined) {
    const known = layoutPlaceholders.map((name) => `{${name}}`).join(', ')
    return `unknown placeholder {${unknown}}; expected ${known}`
  }
  return names.includes('content') ? null : 'must hold {content}, in whose place the message goes'
}

/**
 * Light and dark, by the reader's theme; programs that know no style sheets show the light one. Nothing is loaded from
 * elsewhere but the operator's logo.
 */
export const builtInLayout = `<!doctype html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{subject}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .ground { background: #14171a !important; }
  .card { background: #1e2227 !important; color: #e8e6e1 !important; }
  .code { background: #2a2f36 !important; color: #ffffff !important; border-color: #7a828c !important; }
  .soft { color: #a5abb3 !important; }
  .logo { background: #ffffff !important; padding: 8px !important; border-radius: 8px !important; }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f3f4f6">
<div class="ground" lang="{language}" dir="{direction}" style="padding:24px 12px;background:#f3f4f6;font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;margin:0 auto;font:inherit">
<tr><td class="card" style="padding:28px 28px 16px;background:#ffffff;color:#1d2126;border-top:4px solid {colour};border-radius:8px;text-align:{start};overflow-wrap:anywhere">
{header}
{content}
</td></tr>
<tr><td class="soft" style="padding:16px 28px;color:#5c646d;font-size:13px;text-align:{start}">{footer}</td></tr>
</table>
</div>
</body>
</html>
`
