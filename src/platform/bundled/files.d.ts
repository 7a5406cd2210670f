/** A file imported `with { type: 'file' }` is its path, on disk or inside the executable. */
declare module '*.wasm' {
  const path: string
  export default path
}
declare module '*.data' {
  const path: string
  export default path
}
declare module '*/dist/browser/standalone.js' {
  const path: string
  export default path
}
