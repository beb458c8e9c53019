import { setTimeout } from 'node:timers/promises';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { openRendering } from '../services/templates/src/rendering/open.ts';
import { hostileTemplates } from '../services/templates/test/hostile-templates.ts';
import type { BareProcess } from './bare-process.ts';
import type { BarePreview } from './bare-template-routes.ts';
import { type BenchPlan, call, compareWithBare, type NextRequest, quantile, send } from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The names of the measurements of templates on the command line. */
export const templateNames = ['preview', 'hostile'] as const;

const connections = 16;
const ticketCount = 100;
const timeoutMs = 500;
const message = `<p>Hello {{default (extractFirstName ticket.fromName) "customer"}},</p>
{{#if contract.endDate}}<p>your contract ends on {{formatDateDE contract.endDate}}.</p>{{else}}<p>your contract has no end.</p>{{/if}}
<p>Your request "{{ticket.subject}}" of {{formatDateDE ticket.createdAt}} has the number {{ticket.id}}.</p>
{{#each ticket.tags}}<p>{{@index}} {{upper name}}</p>{{/each}}<p>{{agent.firstName}}</p>`;
/** The same with the helpers that Handlebars itself has. */
const bareMessage = message
  .replace(/\{\{default \(\w+ ([\w.]+)\) "\w+"\}\}/, '{{$1}}')
  .replace(/\{\{(?:formatDateDE|upper) /g, '{{');

/** Measures previews as a share of a bare route, and what hostile templates cost others. */
export async function measureTemplates(system: BenchSystem, bare: BareProcess, plan: BenchPlan): Promise<Figure[]> {
  const { seconds, only, progress } = plan;
  const figures: Figure[] = [];
  if (only.includes('preview')) {
    const ids = await createTickets(system);
    let nth = 0;
    const nextId = () => ids[nth++ % ids.length] ?? 0;
    const preview: NextRequest = () => ({
      method: 'POST',
      path: '/template/preview',
      body: { message, ticketId: nextId() },
    });
    const port = system.service('tickets').environment.get('TICKETING_TICKETS_HTTP_PORT');
    const valuesUrl = `http://127.0.0.1:${port}/ticketing.tickets.v1.TicketService/GetTemplateVariables`;
    const bareTarget = { ...bare, headers: system.headers };
    const barePreview = (): BarePreview => ({ message: bareMessage, ticketId: nextId(), valuesUrl });
    const nextBare: NextRequest = () => ({ method: 'POST', path: '/template/preview', body: barePreview() });
    const name = 'POST /template/preview with a ticket / bare route that reads the same values';
    const figure = { name, goal: { atLeast: 0.4 }, showsLatency: true };
    figures.push(await compareWithBare(figure, [system, preview], [bareTarget, nextBare], plan));
    progress('POST /template/preview beside a template that uses up its time');
    figures.push(await besideSlowTemplate(system, preview, seconds));
  }
  if (only.includes('hostile')) {
    progress('renders beside hostile templates');
    figures.push(await besideHostileTemplates(seconds));
  }
  return figures;
}

async function createTickets(system: BenchSystem): Promise<number[]> {
  const ids: number[] = [];
  for (let nth = 0; nth < ticketCount; nth++) {
    const sender = { channel: 'email', from: `kim${nth}@example.com`, fromName: 'Kim Lee', tags: [1 + (nth % 3)] };
    const text = { subject: 'Zähler & Vertrag', body: `<p>${'Guten Tag, mein Zähler steht. '.repeat(20)}</p>` };
    ids.push((await call(system, { method: 'POST', path: '/ticket', body: { ...sender, ...text } })).id);
  }
  return ids;
}

/** The rate of previews while another caller requests one each second that is stopped after half a second. */
async function besideSlowTemplate(system: BenchSystem, preview: NextRequest, seconds: number): Promise<Figure> {
  const slow = hostileTemplates.find(({ name }) => name === 'loops in loops without output');
  const token = await signToken(system.keys.issuerKeyFile, { sub: '8', kind: 'serviceWorker', roleId: 2 }, 3_600);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ message: slow?.template, templateData: slow?.variables.in });
  const attack = async () => {
    const response = await fetch(`${system.url}/template/preview`, { method: 'POST', headers, body });
    const { code } = (await response.json()) as { code: string };
    if (!/^template_too_(slow|much_memory)$/.test(code)) throw new Error(`The slow template was not stopped: ${code}.`);
  };
  const load = { seconds: Math.max(seconds, 5), connections };
  const measureRate = async () => {
    const { requests, seconds: took } = await send(system, preview, load);
    return requests / took;
  };
  const alone = await measureRate();
  const attacks: Promise<void>[] = [];
  const timer = setInterval(() => attacks.push(attack()), 1_000);
  const beside = await measureRate();
  clearInterval(timer);
  await Promise.all(attacks);
  return {
    name: 'previews per second beside a template that uses up its time once a second / without it',
    value: beside / alone,
    details: { besidePerSecond: beside, alonePerSecond: alone, stopped: attacks.length },
    goal: { atLeast: 0.6 },
  };
}

/** The p99 of usual renders at a fixed rate, while one author has all hostile templates rendered one after the other. */
async function besideHostileTemplates(seconds: number): Promise<Figure> {
  const everyMs = 20;
  const rendering = openRendering(createLogger('bench', 'silent'), { timeoutMs });
  const toValues = (values: object) => Buffer.from(JSON.stringify(values));
  const usual = {
    message: '<p>Hello {{extractFirstName name}},</p>{{#each items}}<p>{{@index}} {{upper this}}</p>{{/each}}',
    variables: toValues({ name: 'Ada Lovelace', items: ['a', 'b', 'c'] }),
    pointer: '',
  };
  const render = async (nth: number) => {
    const startedAt = performance.now();
    await rendering.render(usual, `agent ${nth % 5}`);
    return performance.now() - startedAt;
  };
  const p99 = async (durationMs: number) => {
    const times: Promise<number>[] = [];
    for (let nth = 0; nth * everyMs < durationMs; nth++) {
      times.push(render(nth));
      await setTimeout(everyMs);
    }
    return quantile(await Promise.all(times), 0.99);
  };
  // The processes start, and compile what they run often.
  for (let round = 0; round < 200; round++) await Promise.all([0, 1, 2].map(render));
  const alone = await p99(seconds * 1_000);
  let isDone = false;
  const attack = async () => {
    while (!isDone) {
      for (const { template, variables } of hostileTemplates) {
        const input = { message: template, variables: toValues(variables), pointer: '' };
        await rendering.render(input, 'author').catch(() => undefined);
      }
    }
  };
  const attacking = attack();
  const beside = await p99(Math.max(seconds, 15) * 1_000);
  isDone = true;
  await attacking;
  await rendering.close();
  return {
    name: 'p99 of 50 renders a second beside hostile templates, ms',
    value: beside,
    details: { alone },
    // A render that waited for a hostile template would take `timeoutMs`, however fast the machine is.
    goal: { atMost: timeoutMs - 50 },
  };
}
