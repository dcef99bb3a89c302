import { test } from 'node:test'
import assert from 'node:assert/strict'
import { checkUrl } from './check-url.ts'

function reasonOf(text: string, mode: 'public' | 'loopback' = 'public'): string {
  const check = checkUrl(text, mode)
  return check.ok ? 'ok' : check.reason
}

test('a public https URL passes, with its port, path and query', () => {
  const urls = [
    'https://hooks.example.com/in?a=1',
    'https://example.com:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://a_b.xn--p1ai/',
  ]
  for (const url of urls) assert.equal(reasonOf(url), 'ok', url)
})

test('a URL that is not plain https is refused with a reason that can be shown', () => {
  const refused = [
    '',
    'example.com',
    '//example.com',
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'unix:/var/run/docker.sock',
    'data:text/plain,hello',
    'javascript:1',
    'https://',
    'https://user@example.com/',
    'https://user:secret@example.com/',
    'https://:secret@example.com/',
    'https://exa mple.com/',
    'https://exam\nple.com/',
    'https://example.com/\tx',
    ' https://example.com/',
    'https:\\\\example.com/',
    'https://example.com\\@8.8.8.8/',
    'https://example.com:22/',
    'https://example.com:25/',
    'https://example.com:0/',
    'https://example.com:99999/',
    'https://1.2.3.4.5/',
    `https://example.com/${'a'.repeat(2_048)}`,
  ]
  for (const url of refused) assert.equal(reasonOf(url), 'refused_url', url)
  const check = checkUrl('https://user:secret@example.com/', 'public')
  assert.deepEqual(check, { ok: false, reason: 'refused_url', message: 'The URL must not hold a user name or password.' })
})

test('a name that only a network of its own can resolve is refused', () => {
  const names = `localhost LOCALHOST localhost. a.localhost printer.local metadata.google.internal METADATA.google.internal.
    instance-data instance-data.ec2.internal metadata metadata.goog router redis postgres kubernetes.default.svc.cluster.local
    db.localdomain nas.lan nas.home.arpa example.com. example..com .example.com -a.example.com a-.example.com foo!.com example.0x7f
    ${'a'.repeat(64)}.com ${'a.'.repeat(130)}com`
  for (const name of names.split(/\s+/)) assert.notEqual(reasonOf(`https://${name}/`), 'ok', name)
})

test('loopback mode adds loopback by http and https, and plain http to nothing else', () => {
  for (const host of ['127.0.0.1', '127.9.9.9:3000', '[::1]:3000', 'localhost:3000', 'agent.localhost']) {
    assert.equal(reasonOf(`http://${host}/`, 'loopback'), 'ok', host)
    assert.equal(reasonOf(`https://${host}/`, 'loopback'), 'ok', host)
    assert.notEqual(reasonOf(`http://${host}/`), 'ok', host)
    assert.equal(reasonOf(`https://${host}/`), 'refused_address', host)
  }
  for (const host of ['10.0.0.1', '0.0.0.0', '[::]', '[::ffff:127.0.0.1]', '169.254.169.254', 'redis', 'db.internal']) {
    assert.equal(reasonOf(`http://${host}/`, 'loopback'), 'refused_address', host)
    assert.equal(reasonOf(`https://${host}/`, 'loopback'), 'refused_address', host)
  }
  assert.equal(reasonOf('http://8.8.8.8/', 'loopback'), 'refused_address')
  assert.equal(reasonOf('https://8.8.8.8/', 'loopback'), 'ok')
})
