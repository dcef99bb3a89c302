// What `npm start` puts beside the scripts of the pages: the installed client, and the settings.
declare module '*/client/index.js' {
  export * from '@atrium/client'
}
declare module '*/client/blind-token.js' {
  export * from '@atrium/client/blind-token'
}
declare module '*/settings.js' {
  export const settings: { url: string; key: string; id: string }
}
