// Loads what the roles load, so that packages/cli/bin/strip-types.cjs keeps it without types.
const server = '../../packages/server/src'
const files = [
  `${server}/processes/start.ts`,
  `${server}/processes/start-job-worker.ts`,
  '../../packages/cli/src/server-commands.ts',
  // Loaded by the first job, session or outgoing request.
  `${server}/features/sessions/running/run-model-session.ts`,
  `${server}/features/sessions/sealed-agent-room.ts`,
  `${server}/features/sessions/hosted-consent.ts`,
  '../../packages/room-client/src/room-device.ts',
  `${server}/ports/egress/guarded-egress.ts`,
  `${server}/ports/model/open-model.ts`,
  `${server}/ports/model/tools/open-tools.ts`,
  `${server}/ports/painting/local-painter.ts`,
  `${server}/ports/painting/provider-painter.ts`,
  '../../packages/media/src/producing/make-card.ts',
  '../../packages/media/src/producing/make-clip.ts',
]
for (const file of files) await import(file)
process.exit(0)
