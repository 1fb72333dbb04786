// Runs the Inspector's CLI (`@modelcontextprotocol/inspector --cli`) for each call of a plan; see harness/plan.py.
// Each run is a connection of its own, as on a command line; the program is loaded once.

import { text } from 'node:stream/consumers';

const { CLIENT_PACKAGES } = process.env;
const program = `${CLIENT_PACKAGES}/node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js`;
const { runCli } = await import(program);

/** Runs the CLI, and returns the object that it prints. */
async function run(...words) {
  let printed = '';
  const { write } = process.stdout;
  process.stdout.write = (data, encoding, then) => {
    printed += data;
    (typeof encoding === 'function' ? encoding : then)?.();
    return true;
  };
  let error;
  try {
    await runCli([process.argv[0], program, '--format', 'json', ...words]);
  } catch (caught) {
    error = caught;
  } finally {
    process.stdout.write = write;
  }
  try {
    const { result, ...other } = JSON.parse(printed);
    return result ?? other;
  } catch {
    throw new Error(`${words.join(' ')}: ${error ?? 'no JSON'}\n${printed}`);
  }
}

/** Returns the words that name a server. */
function server(transport, mode) {
  const era = ['--protocol-era', mode];
  if (transport.kind === 'stdio') {
    const variables = Object.entries(transport.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    return { before: [...era, ...variables], after: transport.command };
  }
  const header = ['--header', `Authorization: Bearer ${transport.token}`];
  return { before: [...era, '--server-url', transport.url, '--transport', 'http'], after: header };
}

async function converse({ transport, steps }, mode) {
  const { before, after } = server(transport, mode);
  const seen = { list: await run(...before, '--method', 'tools/list', ...after), results: {} };
  let processId = '';
  for (const step of steps) {
    const given = JSON.stringify(step.arguments).replaceAll('<processId>', processId);
    const words = ['--method', 'tools/call', '--tool-name', step.tool, '--tool-args-json', given];
    const result = await run(...before, ...words, ...after);
    seen.results[step.name] = result;
    processId = result.structuredContent?.data?.processId ?? processId;
  }
  return seen;
}

const plan = JSON.parse(await text(process.stdin));
const conversations = [];
for (const planned of plan.conversations) {
  conversations.push(await converse(planned, plan.mode).catch((error) => ({ broken: String(error?.stack ?? error) })));
}
process.stdout.write(`${JSON.stringify(conversations)}\n`);
