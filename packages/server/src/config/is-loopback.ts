/** Whether the host of a URL is this machine. URL normalises every spelling of an IPv4 address to four decimal numbers. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
