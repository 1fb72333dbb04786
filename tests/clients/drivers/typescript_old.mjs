// Drives the TypeScript SDK v1 (`@modelcontextprotocol/sdk`) through a plan; see harness/plan.py.

import { runPlan } from './conversation.mjs';

const sdk = (path) => import(`${process.env.CLIENT_PACKAGES}/node_modules/@modelcontextprotocol/sdk/dist/esm/client/${path}`);
const { Client } = await sdk('index.js');
const { StdioClientTransport } = await sdk('stdio.js');
const { StreamableHTTPClientTransport } = await sdk('streamableHttp.js');

await runPlan(async ({ transport: wanted }) => {
  const client = new Client({ name: 'typescript-old', version: '1.0.0' });
  let transport;
  let negotiated;
  if (wanted.kind === 'stdio') {
    const [command, ...args] = wanted.command;
    transport = new StdioClientTransport({ command, args, env: wanted.env });
  } else {
    const headers = { Authorization: `Bearer ${wanted.token}` };
    transport = new StreamableHTTPClientTransport(new URL(wanted.url), { requestInit: { headers } });
  }
  // Asked by the SDK after the handshake; the HTTP transport sets a header by it.
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    negotiated = version;
    tell?.(version);
  };
  await client.connect(transport);
  const send = (params, signal, onprogress) => client.callTool(params, undefined, { signal, onprogress });
  return { client, protocol: () => negotiated, send };
});
