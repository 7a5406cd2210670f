/**
 * The layout of e-mails: HTML with placeholders, the built-in one or the operator's own. All values come escaped. A
 * brace that is not around a lower-case word belongs to the style sheet and is left alone.
 */

/** The built-in layout uses all of them but `service`, `logo_url` and `colour`, which its header has. */
const layoutPlaceholders = [
  'content',
  'header',
  'footer',
  'preheader',
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
  .ground { background: #0d0f12 !important; }
  .card { background: #16191d !important; color: #eef0f3 !important; border-color: #272b31 !important; }
  .code { background: #1f2328 !important; color: #ffffff !important; }
  .soft { color: #a2aab4 !important; }
  .name { color: #eef0f3 !important; }
  .mark, .button { box-shadow: 0 0 0 1px #3b414a !important; }
  .rule { border-color: #272b31 !important; }
  .logo { background: #ffffff !important; padding: 8px !important; border-radius: 8px !important; }
}
@media (max-width: 480px) {
  .button, a.soft { display: block !important; text-align: center !important; }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f6f7f9">
<div style="display:none;max-height:0;overflow:hidden">{preheader}</div>
<div class="ground" lang="{language}" dir="{direction}" style="padding:32px 16px;background:#f6f7f9;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:480px;margin:0 auto;font:inherit">
<tr><td style="padding:0 4px 16px;text-align:{start}">{header}</td></tr>
<tr><td class="card" style="padding:32px 28px 16px;background:#ffffff;color:#14171c;border:1px solid #e8eaee;border-radius:12px;text-align:{start};overflow-wrap:anywhere">
<h1 style="margin:0 0 12px;font-size:20px;line-height:28px;font-weight:600">{subject}</h1>
{content}
</td></tr>
<tr><td class="soft" style="padding:20px 4px;color:#5a626d;font-size:13px;line-height:20px;text-align:{start};overflow-wrap:anywhere">{footer}</td></tr>
</table>
</div>
</body>
</html>
`
