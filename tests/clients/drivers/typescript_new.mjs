// Drives the TypeScript SDK v2 (`@modelcontextprotocol/client`) through a plan; see harness/plan.py.

import { runPlan } from './conversation.mjs';

const sdk = (path) => import(`${process.env.CLIENT_PACKAGES}/node_modules/@modelcontextprotocol/client/dist/${path}`);
const { Client, StreamableHTTPClientTransport } = await sdk('index.mjs');
const { StdioClientTransport } = await sdk('stdio.mjs');

await runPlan(async ({ transport: wanted, mode }) => {
  const options = mode === 'default' ? {} : { versionNegotiation: { mode } };
  const client = new Client({ name: 'typescript-new', version: '1.0.0' }, options);
  let transport;
  if (wanted.kind === 'stdio') {
    const [command, ...args] = wanted.command;
    transport = new StdioClientTransport({ command, args, env: wanted.env });
  } else {
    const headers = { Authorization: `Bearer ${wanted.token}` };
    transport = new StreamableHTTPClientTransport(new URL(wanted.url), { requestInit: { headers } });
  }
  await client.connect(transport);
  const send = (params, signal, onprogress) => client.callTool(params, { signal, onprogress });
  return { client, protocol: () => client.getNegotiatedProtocolVersion(), send };
});
