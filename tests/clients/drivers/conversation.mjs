// What both TypeScript drivers share: the plan on standard input, the calls, what was seen on standard output.
// See harness/plan.py.

import { existsSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/**
 * Makes one call; a call that the plan cancels answers `{cancelled: true}`. `send(params, signal, onprogress)` calls;
 * without the last the call asks for no progress. How steps are cancelled and answered: harness/plan.py.
 */
async function call(step, send) {
  const progress = [];
  const note = ({ progress: at, message }) => {
    progress.push({ progress: at, message });
    writeFileSync(step.progress, 'reported\n');
  };
  const stop = new AbortController();
  let timer;
  if (step.cancelWhen) {
    timer = setInterval(() => existsSync(step.cancelWhen) && stop.abort('stopped'), 20);
  }
  try {
    const result = await send({ name: step.tool, arguments: step.arguments }, stop.signal, step.progress && note);
    return step.progress ? { ...result, progress } : result;
  } catch (error) {
    return stop.signal.aborted ? { cancelled: true } : { raised: String(error) };
  } finally {
    clearInterval(timer);
  }
}

/** Has one conversation of the plan. */
async function converse(connect, planned, mode) {
  const { client, protocol, send } = await connect({ ...planned, mode });
  const seen = { instructions: client.getInstructions(), list: await client.listTools(), results: {} };
  seen.prompts = await client.listPrompts();
  seen.prompt = await client.getPrompt({ name: 'orient', arguments: { folder: 'src' } });
  let processId = '';
  for (const next of planned.steps) {
    const step = JSON.parse(JSON.stringify(next).replaceAll('<processId>', processId));
    const began = performance.now();
    const result = await call(step, send);
    seen.results[step.name] = { ...result, tookMs: Math.round(performance.now() - began) };
    processId = result.structuredContent?.data?.processId ?? processId;
  }
  seen.protocol = protocol();
  await client.close();
  return seen;
}

/** Runs the plan. `connect({transport, mode})` returns `{client, protocol, send}` of one SDK generation. */
export async function runPlan(connect) {
  const plan = JSON.parse(await text(process.stdin));
  const conversations = [];
  for (const planned of plan.conversations) {
    const broken = (error) => ({ broken: String(error?.stack ?? error) });
    conversations.push(await converse(connect, planned, plan.mode).catch(broken));
  }
  process.stdout.write(`${JSON.stringify(conversations)}\n`);
}
