/** Neither line breaks nor invisible direction marks, and no longer than a name is. */
export function oneLine(value: string, length = 60): string {
  const flat = value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim()
  return [...flat].slice(0, length).join('').trim()
}
