import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type KubernetesObject, objectsOf, problemsOf, renderOverlay } from './support/kubernetes-objects.ts'
import { skipWithout } from './support/skip-without.ts'

const deploy = fileURLToPath(new URL('../deploy/', import.meta.url))
const roles = ['api', 'worker', 'space', 'migrate']

describe('the Kubernetes manifests', { skip: skipWithout('kubectl') }, () => {
  for (const overlay of ['staging', 'production']) {
    test(`of ${overlay} tell each Space process how many share the limit of an address`, () => {
      const { spec } = renderOverlay(overlay).find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'space')!
      const { env } = spec.template.spec.containers[0]
      const { value } = env.find(({ name }: { name: string }) => name === 'ATRIUM_SPACE_PROCESSES')
      assert.equal(value, String(spec.replicas))
    })

    test(`of ${overlay} render, and Kubernetes knows every field`, async () => {
      for (const object of renderOverlay(overlay))
        assert.deepEqual(await problemsOf(object), [], `${object.kind} ${object.metadata.name}`)
    })
  }

  test('with direct-url.yaml, every role has the address that leads past PgBouncer', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'atrium-kubernetes-'))
    t.after(() => rm(root, { recursive: true }))
    await cp(join(deploy, 'kubernetes'), root, { recursive: true })
    const file = join(root, 'overlays/production/kustomization.yaml')
    await writeFile(file, (await readFile(file, 'utf8')).replace('# - direct-url.yaml', '- direct-url.yaml'))
    const rendered = renderOverlay('production', root)
    for (const role of roles) {
      const found = rendered.find(({ kind, metadata }) => ['Deployment', 'Job'].includes(kind) && metadata.name === role)!
      assert.deepEqual(await problemsOf(found), [], role)
      const { containers, volumes } = found.spec.template.spec
      const env: { name: string; value?: string }[] = containers[0].env
      for (const name of ['database-url', 'database-direct-url']) {
        const variable = `${name.toUpperCase().replaceAll('-', '_')}_FILE`
        assert.ok(
          env.some((one) => one.name === variable && one.value === `/run/secrets/atrium/${name}`),
          `${role} ${variable}`,
        )
        const items: { key: string }[] | undefined = volumes.find((one: { name: string }) => one.name === 'secrets').secret.items
        assert.ok(items === undefined || items.some(({ key }) => key === name), role)
      }
    }
  })

  test('a field that Kubernetes does not know is found, and a value of another type', async () => {
    const api = renderOverlay('staging').find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'api')!
    api.spec.template.spec.containers[0].imagePullPolcy = 'Always'
    assert.deepEqual(await problemsOf(api), ['unknown field /spec/template/spec/containers/0/imagePullPolcy'])
    api.spec.selector = 'api'
    assert.notDeepEqual(await problemsOf(api), [])
  })

  const objects = skipWithout('kubectl') ? [] : renderOverlay('production')
  const named = (kind: string, name: string): KubernetesObject => {
    const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
    assert.ok(found, `${kind} ${name}`)
    return found
  }
  const policiesOf = (component: string) =>
    objects.filter(({ kind, spec }) => {
      if (kind !== 'NetworkPolicy') return false
      const { matchLabels = {}, matchExpressions = [] } = spec.podSelector
      const label = 'app.kubernetes.io/component'
      const isLabelled = matchLabels[label] === undefined || matchLabels[label] === component
      return isLabelled && matchExpressions.every(({ values }: { values: string[] }) => values.includes(component))
    })
  const pods = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')

  test('every container is without root and rights, on a read-only file system, with limits', () => {
    assert.deepEqual(pods.map(({ metadata }) => metadata.name).toSorted(), [...roles, 'egress-proxy'].toSorted())
    for (const { metadata, spec } of pods) {
      const { securityContext, containers, automountServiceAccountToken } = spec.template.spec
      assert.equal(securityContext.runAsNonRoot, true, metadata.name)
      assert.equal(automountServiceAccountToken, false, metadata.name)
      const [container] = containers
      assert.deepEqual(container.securityContext, {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      })
      assert.ok(container.resources.limits.memory, metadata.name)
    }
  })

  test('restore.yaml runs with the master key, the database and the bucket of the API, and reaches them', async () => {
    const [job] = objectsOf('restore.yaml')
    assert.deepEqual(await problemsOf(job!), [])
    const { containers, volumes, securityContext } = job!.spec.template.spec
    const { containers: ofApi, securityContext: context } = named('Deployment', 'api').spec.template.spec
    assert.deepEqual(securityContext, context)
    assert.deepEqual(containers[0].securityContext, ofApi[0].securityContext)
    const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('atrium'))!.data!
    const ofOverlay = [...ofApi[0].env, ...Object.entries(config).map(([name, value]) => ({ name, value }))]
    assert.ok(containers[0].env.length > 5)
    for (const one of containers[0].env)
      assert.deepEqual(
        one,
        ofOverlay.find(({ name }) => name === one.name),
        one.name,
      )
    assert.ok(volumes.some(({ secret }: any) => secret?.secretName === 'atrium'))
    const ports = policiesOf('restore').flatMap(({ spec: { egress = [] } }) => egress.flatMap((one: any) => one.ports))
    for (const port of [5432, 443])
      assert.ok(
        ports.some((one: any) => one.port === port),
        String(port),
      )
  })

  test('the roles have a budget for disruptions', () => {
    for (const name of ['api', 'worker', 'space', 'egress-proxy']) {
      const { matchLabels } = named('PodDisruptionBudget', name).spec.selector
      assert.deepEqual(matchLabels, named('Deployment', name).spec.selector.matchLabels)
    }
  })

  test('no probe ends a role that still waits for the migration, for as long as it waits by itself', () => {
    const waitsForSeconds = 15 * 60
    for (const name of ['api', 'worker', 'space']) {
      const { startupProbe } = named('Deployment', name).spec.template.spec.containers[0]
      assert.ok(startupProbe.periodSeconds * startupProbe.failureThreshold > waitsForSeconds, name)
    }
  })

  test('a rollout is not reported as failed while the probes still let a role start', () => {
    for (const name of ['api', 'worker', 'space']) {
      const { progressDeadlineSeconds, template } = named('Deployment', name).spec
      const { startupProbe } = template.spec.containers[0]
      assert.ok(progressDeadlineSeconds > startupProbe.periodSeconds * startupProbe.failureThreshold, name)
    }
  })

  test('Prometheus finds the metrics of each role at a port that nobody else reaches', () => {
    for (const name of ['api', 'worker', 'space']) {
      const { metadata, spec } = named('Deployment', name).spec.template
      const { env, ports } = spec.containers[0]
      const port = ports.find((one: { name: string }) => one.name === 'metrics').containerPort
      assert.equal(metadata.annotations['prometheus.io/port'], String(port), name)
      assert.equal(env.find((one: { name: string }) => one.name === 'ATRIUM_METRICS_PORT').value, String(port), name)
      assert.equal(env.find((one: { name: string }) => one.name === 'ATRIUM_METRICS_HOST').value, '0.0.0.0', name)
      const entries = policiesOf(name)
        .flatMap(({ spec: { ingress = [] } }) => ingress as { from: any[]; ports: { port: number }[] }[])
        .filter((entry) => entry.ports.some((one) => one.port === port))
      const namespaces = entries.flatMap(({ from }) =>
        from.map((one) => one.namespaceSelector.matchLabels['kubernetes.io/metadata.name']),
      )
      assert.deepEqual(namespaces, ['monitoring'], name)
    }
  })

  test('the Space service gets none of the platform’s secrets, and reaches the database and the proxy alone', () => {
    const { containers, volumes } = named('Deployment', 'space').spec.template.spec
    assert.deepEqual(
      volumes.flatMap(({ secret }: any) => (secret ? [secret.secretName] : [])),
      ['atrium-space'],
    )
    const names = containers[0].env.map(({ name }: { name: string }) => name)
    assert.ok(names.includes('HTTPS_PROXY') && names.includes('NODE_USE_ENV_PROXY'))
    assert.ok(!names.some((name: string) => /MASTER_KEY|ADMIN_TOKEN|REDIS|S3/.test(name)), names.join())
    const ports = policiesOf('space')
      .flatMap(({ spec }) => spec.egress ?? [])
      .flatMap(({ ports: list }: any) => list.map(({ port }: { port: number }) => port))
    assert.deepEqual(ports.toSorted(), [3128, 53, 53, 5432])
  })

  test('what Space may reach is what its certificate names with these settings', async () => {
    const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('atrium'))!.data!
    const hosts = objects.find(({ metadata }) => metadata.name.startsWith('space-egress'))!.data!['hosts']!
    const { findEgress } = await import('../packages/space/src/certificate/egress.ts')
    const { egress } = await findEgress({
      platformIssuer: config['ATRIUM_PUBLIC_URL'],
      issuer: config['OIDC_ISSUER'],
      keysOrigin: config['OIDC_JWKS_ORIGIN'],
    })
    const named = egress.filter((entry) => entry !== 'postgres').map((origin) => new URL(origin).hostname)
    assert.deepEqual(hosts.trim().split('\n').toSorted(), named.toSorted())
  })
})
