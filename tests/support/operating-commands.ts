/** Why tests/operating-pages.test.ts does not run a command of docs/operating itself. */
const release = 'tests/image/image.test.ts makes the release and the image, and starts the roles (npm run test:image)'
const rootOfHost = 'changes the packages or services of the machine'
const spaceRole = 'tests/inside/role-of-space.test.ts runs it'
const databaseOfHost =
  'makes a role of the server, which all databases share; tests/faults/refused-starts.test.ts has a role that owns nothing'
const cluster = 'needs a Kubernetes cluster; tests/kubernetes-manifests.test.ts renders and validates the manifests'
const engine = 'needs a container engine and public DNS names; tests/deploy.test.ts validates compose.yaml'
const movedData = 'tests/faults/supervision.test.ts starts on a folder of data that was moved'
const systemdRestore = 'tests/deploy.test.ts has systemd read the unit with this file'
const composeRestore = 'tests/image/compose.ts restores with these words (npm run test:image)'
const recovery = 'tests/long/point-in-time-recovery.test.ts runs this page with pgBackRest'
const proxy = 'tests/reverse-proxy.test.ts runs nginx and Caddy with the files of this page'
const citus = 'tests/inside/citus.test.ts runs it on a cluster'
const agePackage = 'needs the program age; tests/backup.test.ts encrypts and decrypts with the library of the same format'

/** Commands by page: each line of a block, and each command in the text, that no test of this file runs. */
export const notRunHere: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    'npm run -s atrium -- COMMAND': 'a form; every page names its commands',
    'podman exec CONTAINER atrium COMMAND': engine,
    'podman compose -f deploy/compose.yaml exec api atrium COMMAND': engine,
    'kubectl -n atrium exec deploy/api -- atrium COMMAND': cluster,
  },
  'backup.md': {
    'mkdir -p /run/systemd/system/atrium.service.d': rootOfHost,
    'cat > /run/systemd/system/atrium.service.d/restore.conf <<END': systemdRestore,
    '[Service]': systemdRestore,
    'Type=oneshot': systemdRestore,
    'Restart=no': systemdRestore,
    'ExecStart=': systemdRestore,
    'ExecStart=/opt/atrium/node_modules/.bin/node packages/cli/bin/atrium.cjs restore /backups/2026-11-22.tar --verify':
      systemdRestore,
    END: systemdRestore,
    'systemctl enable --now atrium': rootOfHost,
    'systemctl daemon-reload': rootOfHost,
    'systemctl start atrium': rootOfHost,
    'journalctl --no-pager --unit atrium': rootOfHost,
    'rm -r /run/systemd/system/atrium.service.d': rootOfHost,
    'podman compose -f deploy/compose.yaml up -d --wait postgres': composeRestore,
    'podman compose -f deploy/compose.yaml run --rm --no-deps -v /backups:/backups:ro api restore /backups/2026-11-22.tar --verify':
      composeRestore,
    'podman compose -f deploy/compose.yaml down --volumes': engine,
    'podman compose -f deploy/compose.yaml up -d': engine,
    'kubectl -n atrium delete job restore --ignore-not-found': cluster,
    'kubectl apply -f deploy/kubernetes/restore.yaml': cluster,
    'kubectl -n atrium wait --for=condition=complete --timeout=60s job/restore && kubectl apply -k deploy/kubernetes/overlays/production':
      cluster,
    'kubectl -n atrium apply -f deploy/kubernetes/base/network-policies.yaml': cluster,
    'kubectl -n atrium logs --follow --pod-running-timeout=5m job/restore': cluster,
    'kubectl -n atrium scale deployment --all --replicas=0': cluster,
    'kubectl -n atrium scale deployment api --replicas=1': cluster,
    'age -d -i IDENTITY FILE | tar t': agePackage,
    'tar tf FILE': 'packages/server/src/features/backup/tar.test.ts reads an archive with tar',
  },
  'console.md': {
    'npm start': 'tests/console-development.browser.test.ts starts an installation for development and signs in',
  },
  'distribute.md': {
    'atrium migrate': citus,
    'atrium distribute': citus,
    "select citus_create_restore_point('NAME')": 'a function of Citus',
    "select remove_room('NAME')": citus,
  },
  'install.md': {
    'sha256sum --check SHA256SUMS': release,
    'tar -xzf atrium-0.1.0.tar.gz': release,
    'cd atrium-0.1.0': release,
    'npm ci': release,
    'npm ci --omit=dev': release,
    'NODE_ENV=production npm start': release,
    'deploy/make-secrets.sh': 'tests/deploy.test.ts runs it',
    "create role atrium login password 'PASSWORD';": databaseOfHost,
    "create database atrium owner atrium encoding 'UTF8' template template0;": databaseOfHost,
    "create role atrium_space login password 'PASSWORD';": spaceRole,
    'grant usage on schema public to atrium_space;': spaceRole,
    'grant select on schema_migration_checksum, schema_function, restores to atrium_space;': spaceRole,
    'grant select, insert, update, delete on rooms, room_lines, removed_rooms, new_rooms, space_use, space_total to atrium_space;':
      spaceRole,
    'install -d -m 700 /etc/atrium /etc/atrium/secrets': rootOfHost,
    'touch /etc/atrium/atrium.env': rootOfHost,
    'cp /opt/atrium/deploy/systemd/atrium.service /etc/systemd/system/': rootOfHost,
    'nsenter -m -t "$(systemctl show --property MainPID --value atrium)" sh -c \'set -a; . /etc/atrium/atrium.env; ATRIUM_DATA_DIR=/var/lib/atrium; cd /opt/atrium && exec npm run -s atrium -- COMMAND\'':
      rootOfHost,
    'systemctl enable --now atrium': rootOfHost,
    'npm run release': release,
    'podman build -f deploy/Containerfile --target server -t atrium .': release,
    'podman build -f deploy/Containerfile --target with-postgres -t atrium:with-postgres .': release,
    'podman run --read-only --tmpfs /tmp -v atrium:/data -p 8787:8787 -p 8788:8788 atrium:with-postgres': release,
    'cat > deploy/.env <<END': engine,
    'COMPOSE_PROJECT_NAME=atrium': engine,
    'ATRIUM_DOMAIN=api.example.com': engine,
    'ATRIUM_SPACES_DOMAIN=spaces.example.com': engine,
    END: engine,
    'podman compose -f deploy/compose.yaml up -d': engine,
    'podman compose -f deploy/compose.yaml down': engine,
    'podman compose -f deploy/compose.yaml exec api atrium tenants create --name "My app"': engine,
    'podman build -t registry.example.com/atrium-egress-proxy:0.1.0 deploy/egress-proxy':
      'needs a container engine; tests/egress-proxy.test.ts runs the proxy',
    'kubectl create namespace atrium': cluster,
    'kubectl -n atrium create secret generic atrium --from-file=database-url --from-file=redis-url --from-file=admin-token --from-file=master-key --from-file=s3-access-key-id --from-file=s3-secret-access-key':
      cluster,
    'kubectl -n atrium create secret generic atrium-space --from-file=database-url --from-file=space-signing-key': cluster,
    'kubectl -n atrium delete job migrate --ignore-not-found': cluster,
    'kubectl apply -k deploy/kubernetes/overlays/production': cluster,
  },
  'incidents.md': {
    'atrium verify https://spaces.example': 'packages/cli/src/verify/atrium-verify.test.ts verifies a running Space',
    'pgbackrest check': recovery,
  },
  'point-in-time-recovery.md': {
    'apt-get install pgbackrest': rootOfHost,
    'openssl rand -base64 48': 'makes a passphrase',
    'systemctl disable --now atrium': rootOfHost,
    'systemctl enable --now atrium': rootOfHost,
    'kubectl -n atrium scale deployment --all --replicas=0': cluster,
    'kubectl -n atrium scale deployment api --replicas=1': cluster,
    'kubectl apply -k deploy/kubernetes/overlays/production': cluster,
    'systemctl restart postgresql': recovery,
    'systemctl start postgresql': recovery,
    'systemctl stop postgresql': recovery,
  },
  'rotate.md': {
    'certbot renew': rootOfHost,
    'nginx -s reload': proxy,
  },
  'sizing.md': {
    'npm run bench': 'measures for minutes, on a machine that does nothing else',
    'npm start': 'its measurement takes minutes',
  },
  'tls-and-reverse-proxy.md': {
    'apt-get install caddy': rootOfHost,
    'apt-get install nginx': rootOfHost,
    'caddy validate --config /etc/caddy/Caddyfile': proxy,
    'nginx -s reload': proxy,
    'nginx -t': proxy,
    'systemctl reload caddy': rootOfHost,
  },
  'upgrade.md': {
    'tar -xzf atrium-0.2.0.tar.gz': release,
    '(cd atrium-0.2.0 && npm ci --omit=dev)': release,
    'mv atrium-0.1.0/data atrium-0.2.0/data': movedData,
    'cd atrium-0.2.0': release,
    'NODE_ENV=production npm start': release,
    'rm -rf /opt/atrium.old': rootOfHost,
    'mkdir /opt/atrium.new': rootOfHost,
    'tar -xzf atrium-0.2.0.tar.gz --strip-components=1 -C /opt/atrium.new': rootOfHost,
    '(cd /opt/atrium.new && npm ci --omit=dev)': rootOfHost,
    'systemctl stop atrium': rootOfHost,
    'mv /opt/atrium /opt/atrium.old': rootOfHost,
    'mv /opt/atrium.new /opt/atrium': rootOfHost,
    'cp /opt/atrium/deploy/systemd/atrium.service /etc/systemd/system/': rootOfHost,
    'systemctl daemon-reload': rootOfHost,
    'systemctl start atrium': rootOfHost,
  },
  'alerts/AtriumDown.md': { 'systemctl status atrium': 'systemd is not process 1 of a container or a build machine' },
}

/** Pages whose `sh` blocks another test runs. */
export const runElsewhere: Readonly<Record<string, string>> = {
  'point-in-time-recovery.md': recovery,
  'tls-and-reverse-proxy.md': proxy,
}

const programs =
  'age|apt-get|atrium|caddy|certbot|cp|curl|kill|kubectl|nginx|npm|openssl|pgbackrest|podman|psql|select|systemctl|tar|top'
const inText = new RegExp(`(?<!\`)\`((?:${programs}) [^\`]+)\`(?!\`)`, 'g')

/** The lines of the blocks that are not `sh`, but without a language, and the commands in the text. */
export function commandsOf(markdown: string): { unmarked: string[]; inText: string[] } {
  const unmarked: string[] = []
  const text = markdown.replaceAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm, (_, indent: string, language: string, block: string) => {
    if (language === '')
      unmarked.push(
        ...block
          .replaceAll(/ *\\\n\s*/g, ' ')
          .split('\n')
          .map((line) => line.slice(indent.length).trim())
          .filter((line) => line !== ''),
      )
    return ''
  })
  return { unmarked, inText: [...text.matchAll(inText)].map(([, command]) => command!.replaceAll(/\s+/g, ' ')) }
}
