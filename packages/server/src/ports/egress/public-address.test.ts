import { test } from 'node:test'
import assert from 'node:assert/strict'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'

const firstAndLastOfEachBlock = `
  0.0.0.0 0.255.255.255  10.0.0.0 10.255.255.255  100.64.0.0 100.127.255.255  127.0.0.0 127.255.255.255  169.254.0.0 169.254.255.255
  172.16.0.0 172.31.255.255  192.0.0.0 192.0.0.255  192.0.2.0 192.0.2.255  192.88.99.0 192.88.99.255  192.168.0.0 192.168.255.255
  198.18.0.0 198.19.255.255  198.51.100.0 198.51.100.255  203.0.113.0 203.0.113.255  224.0.0.0 239.255.255.255  240.0.0.0
  255.255.255.254 255.255.255.255
  :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::1 100::1 1fff:ffff::
  2001:: 2001::1 2001:0:ffff:ffff:ffff:ffff:ffff:ffff 2001:1::1 2001:2::1 2001:2:0:ffff::1 2001:10::1 2001:1f:ffff::1 2001:20::1
  2001:2f:ffff::1 2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2002:: 2002:7f00:1::1 2002:808:808::1 2002:ffff::1
  3fff:: 3fff:fff:ffff:ffff::1 4000:: 5f00::1 fc00:: fd00:ec2::254 fdff::1 fe80::1 febf::1 fec0::1 ff00:: ff02::1 ffff::1`

const justOutside = `
  1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255
  172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
  198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 8.8.8.8
  2000::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1 2003::1 2606:4700::1111 3ffe:ffff::1 3fff:1000::1`

const noAddress = [
  '',
  '127.1',
  '0x7f000001',
  '2130706433',
  '8.8.8',
  '08.8.8.8',
  '8.8.8.8 ',
  '2606:4700::1111%eth0',
  '[2606:4700::1]',
  'a.org',
]

const words = (text: string) => text.trim().split(/\s+/)

test('no address of a special block is public, from its first to its last', () => {
  for (const ip of words(firstAndLastOfEachBlock)) assert.equal(isPublicAddress(ip), false, ip)
})

test('the addresses just outside the special blocks are public', () => {
  for (const ip of words(justOutside)) assert.equal(isPublicAddress(ip), true, ip)
})

test('what is not an address in its plain spelling is not public', () => {
  for (const text of noAddress) assert.equal(isPublicAddress(text), false, text)
})

test('loopback is 127.0.0.0/8 and ::1, and nothing that only carries them', () => {
  for (const ip of ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1']) assert.equal(isLoopbackAddress(ip), true, ip)
  for (const ip of ['0.0.0.0', '::', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '10.0.0.1', '::1%lo', '127.1'])
    assert.equal(isLoopbackAddress(ip), false, ip)
})
