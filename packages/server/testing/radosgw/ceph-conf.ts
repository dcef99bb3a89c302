export interface CephPlace {
  folder: string
  monPort: number
  gatewayPort: number
}

/**
 * The configuration of a Ceph for one test run: one monitor, one OSD with its data in memory and one gateway, all on
 * loopback. It needs no manager.
 */
export function cephConf({ folder, monPort, gatewayPort }: CephPlace): string {
  return `
[global]
fsid = 5c0d8a1e-6f5e-4b7a-9f0d-0d7f4d6b9a11
mon host = v2:127.0.0.1:${monPort}
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr1 = false
auth cluster required = none
auth service required = none
auth client required = none
run dir = ${folder}
admin socket = ""
pid file = ""
log file = ${folder}/$name.log
mon cluster log file = ${folder}/cluster.log
mon data = ${folder}/mon
mon allow pool size one = true
# Every pool that the gateway makes waits for the monitor several times: 0.3 s in all instead of 11 s.
paxos propose interval = 0.02
paxos min wait = 0.01
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1

[client.rgw]
# The gateway's own defaults ask for cephx, whatever the cluster says.
auth client required = none
ms mon client mode = crc
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort}
# What was deleted leaves the memory soon, not after two hours.
rgw gc obj min wait = 1
rgw gc processor period = 2
`
}
