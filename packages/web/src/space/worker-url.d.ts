/** Vite builds the worker as a file of its own, and this is its address. */
declare module '*?worker&url' {
  const url: string
  export default url
}
