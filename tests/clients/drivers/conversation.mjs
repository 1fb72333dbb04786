// What both TypeScript drivers share: the plan on standard input, the calls, what was seen on standard output.
// See harness/plan.py.

import { text } from 'node:stream/consumers';

/**
 * Makes one call; a call that the plan cancels answers `{cancelled: true}`. `send(params, signal, onprogress)` calls;
 * without the last the call asks for no progress.
 */
async function call(step, send) {
  const progress = [];
  const told = step.progress ? ({ progress: at, message }) => progress.push({ progress: at, message }) : undefined;
  const stop = new AbortController();
  const timer = step.cancelAfterMs === undefined ? undefined : setTimeout(() => stop.abort('stopped'), step.cancelAfterMs);
  try {
    const result = await send({ name: step.tool, arguments: step.arguments }, stop.signal, told);
    return step.progress ? { ...result, progress } : result;
  } catch (error) {
    return stop.signal.aborted ? { cancelled: true } : { raised: String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Runs the plan. `connect(plan)` gives `{client, protocol, send}` of one SDK generation. */
export async function converse(connect) {
  const plan = JSON.parse(await text(process.stdin));
  const { client, protocol, send } = await connect(plan);
  const seen = { instructions: client.getInstructions(), list: await client.listTools(), results: {} };
  seen.prompts = await client.listPrompts();
  seen.prompt = await client.getPrompt({ name: 'orient', arguments: { folder: 'src' } });
  let processId = '';
  for (const planned of plan.steps) {
    const step = JSON.parse(JSON.stringify(planned).replaceAll('<processId>', processId));
    const began = performance.now();
    const result = await call(step, send);
    seen.results[step.name] = { ...result, tookMs: Math.round(performance.now() - began) };
    processId = result.structuredContent?.data?.processId ?? processId;
  }
  seen.protocol = protocol();
  await client.close();
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}
