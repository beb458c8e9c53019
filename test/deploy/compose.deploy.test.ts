import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLedger } from '@ticketing/service-kit/deletions/ledger-file.ts';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ComposeSystem, missingForCompose, runCommand, startCompose } from './compose-system.ts';

const deleteTicket = 'ticketing.tickets.v1.TicketService.DeleteTicket';
const deleteTag = 'ticketing.tickets.v1.TagService.DeleteTag';
const missing = missingForCompose();
if (missing !== undefined) test('a machine that lacks what it needs', ({ skip }) => skip(missing));

describe.skipIf(missing !== undefined)('the system in containers', () => {
  let system: ComposeSystem;
  let token: string;

  beforeAll(async () => {
    system = await startCompose();
    const claims = { sub: '1', kind: 'user', roleId: 1, firstName: 'Ada', lastName: 'Admin', email: 'ada@example.com' };
    token = await signToken(developmentKeys(system.dataDir).issuerKeyFile, claims, 3600);
  }, 900_000);
  afterAll(() => system?.stop(), 180_000);

  const request = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(system.urls.gateway + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };

  test('plays the demonstration: tickets, search, mails in and out, templates', async () => {
    const { gateway, rpc, mails } = system.urls;
    const urls = ['--url', gateway, '--rpc-url', rpc, '--mails-url', mails];
    const { code, printed } = await runCommand('demo', [...urls, '--data', system.dataDir]);
    expect({ code, printed }).toMatchObject({ code: 0, printed: expect.stringContaining('Guten Tag Kim Lee,') });
    expect(printed).not.toMatch(/→ 5\d\d/);
  });

  test('analyses a ticket', async () => {
    const body = '<p>Mein Zähler ist seit Montag defekt und zeigt leider nichts mehr an.</p><script>1</script>';
    const { id } = await request('POST', '/ticket', { channel: 'email', subject: 'Der Zähler ist defekt', body });
    const isAnalysed = async () => {
      const ticket = await request('GET', `/ticket/${id}`);
      expect(ticket).toMatchObject({ languageCode: 'de' });
      expect(ticket.body).not.toContain('script');
    };
    await vi.waitFor(isAnalysed, { timeout: 60_000, interval: 250 });
  });

  test('delivers webhooks', async () => {
    const receiver = `require('http').createServer((q, s) => s.writeHead(204).end()).listen(80)`;
    system.run('receiver', 'docker.io/library/node:24-bookworm-slim', ['node', '-e', receiver]);
    const endpoint = { url: 'http://receiver/hook', description: 'test', eventTypes: ['ticket.created'] };
    const created = await request('POST', '/webhook', endpoint);
    const id = Number((created.webhook as { id?: number } | undefined)?.id ?? created.id);
    const isDelivered = async () => {
      // The dispatcher learns of an endpoint a moment after it was created, so each attempt uses a new ticket.
      await request('POST', '/ticket', { channel: 'phone', subject: 'A webhook' });
      const { deliveries } = await request('GET', `/webhook/${id}/delivery?status=delivered&limit=1`);
      expect(deliveries).toHaveLength(1);
    };
    await vi.waitFor(isDelivered, { timeout: 60_000, interval: 500 });
  });

  test('keeps a ledger of deletions, and deletes again what it has', async () => {
    const ledger = join(system.dataDir, 'ledger.jsonl');
    const created = async (name: string) => ({
      ticket: Number((await request('POST', '/ticket', { channel: 'phone', subject: name })).id),
      tag: Number((await request('POST', '/tag', { name })).id),
    });
    const [deleted, restored] = [await created('deleted'), await created('restored')];
    await request('DELETE', `/ticket/${deleted.ticket}`);
    await request('DELETE', `/tag/${deleted.tag}`);
    const { code, printed } = await runCommand('backup', ['ledger', '--file', ledger, '--exec', system.programOf]);
    expect({ code, printed }).toMatchObject({ code: 0 });
    const { deleted: known } = readLedger(ledger)('tickets');
    expect([...(known.get(deleteTicket) ?? [])]).toContain(`${deleted.ticket}`);
    expect([...(known.get(deleteTag) ?? [])]).toContain(`${deleted.tag}`);

    // Simulates a backup that is older than the deletion of these things.
    const line = JSON.stringify({
      service: 'tickets',
      until: new Date().toISOString(),
      deleted: { [deleteTicket]: [`${restored.ticket}`], [deleteTag]: [`${restored.tag}`] },
    });
    appendFileSync(ledger, `${line}\n`);
    const apply = ['--in-place', '--ledger', ledger, '--exec', system.newProgramOf];
    const applied = await runCommand('restore', apply, system.environment);
    expect(applied).toMatchObject({
      code: 0,
      printed: expect.stringContaining('tickets: 2 deletions were made again'),
    });
    await expect(request('GET', `/ticket/${restored.ticket}`)).rejects.toThrow(': 404');
    // A process learns within a second of changes that another one has made to the tags.
    const isGone = () => expect(request('GET', `/tag/${restored.tag}`)).rejects.toThrow(': 404');
    await vi.waitFor(isGone, { timeout: 30_000, interval: 250 });
  });

  test('serves the reference page and the descriptions of all services', async () => {
    const page = await fetch(`${system.urls.gateway}/docs/static/swagger-ui-bundle.js`);
    expect(page.status).toBe(200);
    expect((await page.text()).length).toBeGreaterThan(1_000_000);
    const { paths } = (await (await fetch(`${system.urls.gateway}/openapi.json`)).json()) as { paths: object };
    for (const path of ['/ticket', '/template', '/webhook', '/skill', '/export/{name}']) {
      expect(Object.keys(paths).some((one) => one.startsWith(path.split('{')[0] ?? path))).toBe(true);
    }
  });

  test('runs each service by two processes, or one', () => {
    const expected = services.flatMap(({ name, roles }) => (roles.length > 1 ? [name, `${name}-background`] : [name]));
    expect([...system.processes].sort()).toEqual(expected.sort());
  });

  // asvs: 1.2.5
  test('a process of every service has no root, capabilities, shell, or file system to write to', () => {
    const code = `
      const fs = require('fs');
      const refused = (file) => { try { fs.writeFileSync(file, ''); return ''; } catch (error) { return error.code; } };
      const status = fs.readFileSync('/proc/1/status', 'utf8');
      const line = (name) => status.match(new RegExp('^' + name + ':\\\\s*(\\\\S+)', 'm'))[1];
      const found = ['/bin/sh', '/bin/bash', '/usr/bin/env', '/usr/local/bin/npm', '/usr/local/lib/node_modules', '/app/node_modules'];
      console.log(JSON.stringify({
        user: [process.getuid(), process.getgid(), Number(line('Uid'))], capabilities: Number('0x' + line('CapEff')),
        noNewPrivileges: line('NoNewPrivs'), refused: ['/app/x', '/x', '/etc/x', '/var/x'].map(refused),
        found: found.filter((path) => fs.existsSync(path)), bill: JSON.parse(fs.readFileSync('/app/sbom.cdx.json')).metadata.component.name,
        sources: fs.readdirSync('/app').filter((name) => name.endsWith('.ts')),
      }));`;
    for (const { name } of services) {
      const seen = JSON.parse(system.evaluate(name, code)) as { refused: string[] };
      expect({ name, ...seen }).toEqual({
        ...{ name, user: [65_532, 65_532, 65_532], capabilities: 0, noNewPrivileges: '1', found: [], sources: [] },
        refused: seen.refused.map(() => 'EROFS'),
        bill: `ticketing-${name}`,
      });
    }
  });

  test('a process that is not ready is not healthy', () => {
    const code = `
      const { spawnSync } = require('child_process');
      const env = { TICKETING_TICKETS_INTERNAL_PORT: '1' };
      console.log(spawnSync(process.execPath, ['/app/health.mjs'], { env }).status);`;
    expect(system.evaluate('tickets', code)).toBe('1');
  });
});
