/** Networks of containers, as an engine makes them: each host in a network namespace of its own, with bridges between. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface HostPlan {
  /** The networks that it has an address in. */
  networks: readonly string[]
  /** What the other hosts of a network call it, beside its key in the plan. */
  aliases?: Readonly<Record<string, readonly string[]>>
  /** The last number of its address in each network. Default: the next one. */
  number?: number
}

export interface Host {
  /** Has the network namespace: /proc/PID/ns/net. */
  pid: number
  /** For /etc/hosts in its containers: the hosts that it shares a network with. */
  hostsFile: string
}

export interface Networks {
  host(name: string): Host
  /** Beside the bridges: reaches every host by its names, as the machine reaches the containers that it runs. */
  machine: Host
  close(): Promise<void>
}

/**
 * Networks by their name, each with the first three parts of its addresses, and hosts by their name. No route leads out:
 * a name of the Internet is what the plan makes of it, and any other address is unreachable.
 */
export async function openNetworks(
  folder: string,
  ranges: Readonly<Record<string, string>>,
  plans: Readonly<Record<string, HostPlan>>,
): Promise<Networks> {
  const holders: ChildProcess[] = []
  const hold = async (): Promise<number> => {
    const child = spawn('unshare', ['--net', 'sleep', '3600'], { stdio: 'ignore' })
    holders.push(child)
    const own = readlinkSync('/proc/self/ns/net')
    for (const deadline = Date.now() + 5_000; readlinkSync(`/proc/${child.pid}/ns/net`) === own; await delay(5))
      if (Date.now() > deadline) throw new Error('no network namespace is made')
    return child.pid!
  }
  const within = (pid: number, script: string) => run('nsenter', [`--net=/proc/${pid}/ns/net`, 'sh', '-ec', script])
  const names = Object.keys(ranges)
  const lines = Object.entries(plans).flatMap(([name, { networks, aliases = {}, number }], index) =>
    networks.map((network) => {
      const called = [name, ...(aliases[network] ?? [])].join(' ')
      return { network, line: `${ranges[network]}.${number ?? index + 2} ${called}` }
    }),
  )
  const writeHosts = async (name: string, networks: readonly string[]) => {
    const path = join(folder, `hosts-${name}`)
    const shared = lines.filter(({ network }) => networks.includes(network)).map(({ line }) => line)
    await writeFile(path, `${['127.0.0.1 localhost', '::1 localhost', ...shared].join('\n')}\n`)
    return path
  }

  await mkdir(folder, { recursive: true })
  const machine = await hold()
  const bridges = names.map(
    (name, at) => `ip link add br${at} type bridge; ip addr add ${ranges[name]}.1/24 dev br${at}; ip link set br${at} up`,
  )
  await within(machine, ['ip link set lo up', ...bridges].join('\n'))
  const hosts = new Map<string, Host>()
  for (const [index, [name, { networks, number }]] of Object.entries(plans).entries()) {
    const pid = await hold()
    const cable = (network: string) => `v${index}n${names.indexOf(network)}`
    const outside = networks.map(
      (network) =>
        `ip link add ${cable(network)} type veth peer name eth${names.indexOf(network)} netns ${pid}
         ip link set ${cable(network)} master br${names.indexOf(network)} up`,
    )
    await within(machine, outside.join('\n'))
    const inside = networks.map((network) => {
      const device = `eth${names.indexOf(network)}`
      return `ip addr add ${ranges[network]}.${number ?? index + 2}/24 dev ${device}; ip link set ${device} up`
    })
    await within(pid, ['ip link set lo up', ...inside].join('\n'))
    hosts.set(name, { pid, hostsFile: await writeHosts(name, networks) })
  }
  return {
    host: (name) => {
      const found = hosts.get(name)
      if (!found) throw new Error(`no host ${name}`)
      return found
    },
    machine: { pid: machine, hostsFile: await writeHosts('machine', names) },
    close: async () => {
      for (const holder of holders) {
        if (holder.exitCode !== null || holder.signalCode !== null) continue
        holder.kill('SIGKILL')
        await once(holder, 'exit')
      }
    },
  }
}

/** Runs the command with the host's network and names, and this machine's files. Fails with what it printed. */
export function commandOn({ pid, hostsFile }: Host, command: readonly string[]): string[] {
  const mounted = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', hostsFile]
  return ['nsenter', `--net=/proc/${pid}/ns/net`, ...mounted, ...command]
}
