import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { Health } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '@ticketing/contracts/grpc/reflection/v1/reflection_pb.ts';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import {
  CreateTicketRequestSchema,
  TicketService,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { readAccessRule, readRestRule } from '@ticketing/rest/codec/options.ts';
import { createGrpcTransport } from '@ticketing/service-kit/client/grpc-transport.ts';
import { profileKinds } from '@ticketing/service-kit/identity/caller.ts';
import { badTokens } from '@ticketing/testkit/bad-tokens.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
const transports: [string, Transport][] = [];
const methods = [TicketService, TagService]
  .flatMap((service) => service.methods)
  // The others are for services, whatever rights a person has.
  .filter((method) => readAccessRule(method)?.case !== 'service');
/** The rights of docs/reference/api.md, Rights. Every other method needs a valid token only. */
const rights: Record<string, string> = {
  deleteTicket: 'deleteTicket',
  createTag: 'manageTags',
  updateTag: 'manageTags',
  deleteTag: 'manageTags',
};

beforeAll(async () => {
  tickets = await startHarness();
  transports.push(['Connect', createConnectTransport({ baseUrl: tickets.url, httpVersion: '1.1' })]);
  transports.push(['gRPC-Web', createGrpcWebTransport({ baseUrl: tickets.url, httpVersion: '1.1' })]);
  const target = `127.0.0.1:${tickets.running.ports.grpc}`;
  transports.push([
    'gRPC',
    createGrpcTransport({ target, defaultTimeoutMs: 10_000, services: [TicketService, TagService] }),
  ]);
});
afterAll(async () => {
  for (const [, transport] of transports)
    if ('close' in transport && typeof transport.close === 'function') transport.close();
  await tickets.stop();
});

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe('the REST API', () => {
  test.each(methods.filter(readRestRule).map((method) => [method.toString(), method] as const))(
    // guarantee: C2, C4
    // asvs: 9.2.2, 9.2.3-9.2.4
    '%s accepts only internal tokens for this service',
    async (_, method) => {
      const rule = readRestRule(method);
      const path = rule?.path.replace(/\{\w+\}/, '1') ?? '';
      const statusWith = async (authorization: string | undefined) =>
        (
          await tickets.fetch(tickets.url + path, {
            method: rule?.method ?? 'GET',
            headers: { ...(authorization === undefined ? {} : { authorization }) },
          })
        ).status;
      expect(await statusWith(undefined)).toBe(401);
      expect(await statusWith('Basic YTpi')).toBe(401);
      expect(await statusWith(`Bearer ${await tickets.identity.issuerToken({ roleId: 1 })}`)).toBe(401);
      expect(await statusWith(`Bearer ${await tickets.identity.internalToken('gateway', testCaller())}`)).toBe(401);
      const status = async (caller: object) =>
        statusWith(`Bearer ${await tickets.identity.internalToken('tickets', testCaller(caller))}`);
      const right = rights[method.localName];
      const [lesser, exact, admin] = [
        await status({}),
        await status({ permissions: [right ?? ''] }),
        await status({ roleId: 1 }),
      ];
      if (right) expect(lesser).toBe(403);
      for (const permitted of right ? [exact, admin] : [lesser, exact, admin])
        expect([200, 400, 404]).toContain(permitted);
    },
  );
});

describe('the RPC APIs', () => {
  // guarantee: C1
  test('refuse every bad token, on every protocol', async () => {
    for (const [name, token] of await badTokens(
      tickets.identity,
      tickets.environment.TICKETING_TICKETS_JWKS_FILE ?? '',
      'reporting',
    )) {
      for (const [protocol, transport] of transports) {
        const call = createClient(TagService, transport).listTags({}, token === '' ? {} : bearer(token));
        const code = await call.then(() => 'accepted').catch((error: unknown) => ConnectError.from(error).code);
        expect(code, `${name} over ${protocol}`).toBe(Code.Unauthenticated);
      }
    }
  });

  test.each(methods.map((method) => [method.toString(), method] as const))(
    // spec: 37.5, 37.10
    '%s requires its right, on every protocol',
    async (_, method) => {
      const right = rights[method.localName];
      const otherRights = [...new Set(Object.values(rights))].filter((name) => name !== right);
      const { issuerToken, internalToken } = tickets.identity;
      const credentials: [string, string, boolean][] = [
        ['no rights', await issuerToken(), right === undefined],
        ['all other rights', await issuerToken({ permissions: otherRights }), right === undefined],
        ['the right', await issuerToken({ permissions: right ? [right] : [] }), true],
        [
          'the right, in an internal token',
          await internalToken('tickets', testCaller({ permissions: right ? [right] : [] })),
          true,
        ],
        ['no rights, in an internal token', await internalToken('tickets', testCaller()), right === undefined],
        ['an administrator', await issuerToken({ roleId: 1 }), true],
        ['another role', await issuerToken({ roleId: 2 }), right === undefined],
      ];
      for (const kind of profileKinds) {
        credentials.push([`a ${kind} without rights`, await issuerToken({ kind }), right === undefined]);
        credentials.push([`a ${kind} with the right`, await issuerToken({ kind, permissions: [right ?? ''] }), true]);
      }
      for (const [protocol, transport] of transports) {
        const call = (token?: string) =>
          transport
            .unary(method as never, undefined, 5000, token === undefined ? {} : bearer(token).headers, {})
            .then(() => 'accepted')
            .catch((error: unknown) => ConnectError.from(error).code);
        expect(await call(), `without a token over ${protocol}`).toBe(Code.Unauthenticated);
        for (const [name, token, isAllowed] of credentials) {
          const allowed = ['accepted', Code.InvalidArgument, Code.NotFound, Code.FailedPrecondition];
          expect(isAllowed ? allowed : [Code.PermissionDenied], `${name} over ${protocol}`).toContain(
            await call(token),
          );
        }
      }
    },
  );

  test('accept tokens of the issuer and internal tokens, and check the right', async () => {
    for (const [index, [protocol, transport]] of transports.entries()) {
      const tags = createClient(TagService, transport);
      const ordinary = await tickets.identity.issuerToken();
      const refused = await tags.createTag({ name: 'x' }, bearer(ordinary)).catch(ConnectError.from);
      expect((refused as ConnectError).code, protocol).toBe(Code.PermissionDenied);
      const allowed = await tickets.identity.issuerToken({ permissions: ['manageTags'] });
      expect((await tags.createTag({ name: `tag ${index}` }, bearer(allowed))).success).toBe(true);
      const internal = await tickets.identity.internalToken('tickets', testCaller());
      expect((await tags.listTags({}, bearer(internal))).total).toBe(index + 1);
    }
  });

  test('create, read and find the same ticket as REST does', async () => {
    const token = bearer(await tickets.identity.issuerToken());
    for (const [protocol, transport] of transports) {
      const client = createClient(TicketService, transport);
      const { ticket } = await client.createTicket({ channel: Channel.EMAIL, subject: `Über ${protocol}` }, token);
      const rest = await tickets.request('GET', `/ticket/${ticket?.id}`);
      expect(rest.json).toMatchObject({ id: ticket?.id, subject: `Über ${protocol}`, status: 'open', version: 1 });
      const got = await client.getTicket({ ticketId: ticket?.id ?? 0 }, token);
      expect(got.ticket).toEqual(ticket);
      const found = await client.searchTickets({ limit: 1 }, token);
      expect(found.tickets[0]?.id).toBe(ticket?.id);
    }
  });

  test('validate a message by the rules of the contract, and list the violations', async () => {
    const token = bearer(await tickets.identity.issuerToken());
    const bad = create(CreateTicketRequestSchema, {
      channel: 99 as Channel,
      subject: 'x'.repeat(999),
      tags: [0],
      templateId: 0,
    });
    for (const [protocol, transport] of transports) {
      const error = ConnectError.from(
        await createClient(TicketService, transport)
          .createTicket(bad, token)
          .catch((thrown: unknown) => thrown),
      );
      expect(error.code, protocol).toBe(Code.InvalidArgument);
      const [problem] = error.findDetails(ProblemSchema);
      expect(problem?.reason).toBe('invalid_input');
      expect(problem?.errors.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
        '#/channel not_allowed',
        '#/subject too_long',
        '#/tags/0 out_of_range',
        '#/templateId out_of_range',
      ]);
      const missing = await createClient(TicketService, transport)
        .getTicket({ ticketId: 2_000_000 }, token)
        .catch(ConnectError.from);
      expect([(missing as ConnectError).code, (missing as ConnectError).rawMessage]).toEqual([
        Code.NotFound,
        'Ticket not found',
      ]);
    }
  });

  // guarantee: I33
  test('refuse a request without a valid token before reading its message, and read no more than the contract allows', async () => {
    const rpc = (name: string, bytes: number, authorization?: string) =>
      fetch(`${tickets.url}/ticketing.tickets.v1.${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/proto', ...(authorization ? { authorization } : {}) },
        body: Buffer.alloc(bytes),
      });
    const unknown = await rpc('TicketService/CreateTicket', 39 * 1024 * 1024);
    expect([unknown.status, (await unknown.json()) as { code: string }]).toEqual([
      401,
      expect.objectContaining({ code: 'unauthenticated' }),
    ]);
    const { headers } = bearer(await tickets.identity.issuerToken());
    const authorization = new Headers(headers as HeadersInit).get('authorization') ?? '';
    const tooLarge = await rpc('TagService/ListTags', 2 * 1024 * 1024 + 1, authorization);
    expect(((await tooLarge.json()) as { code: string }).code).toBe('resource_exhausted');
  });

  test('show health and reflection to everybody', async () => {
    const grpc = transports[2]?.[1];
    if (!grpc) throw new Error('no gRPC transport');
    expect((await createClient(Health, grpc).check({ service: 'ticketing.tickets.v1.TicketService' })).status).toBe(1);
    async function* ask() {
      yield { host: '', messageRequest: { case: 'listServices' as const, value: '*' } };
    }
    const names: string[] = [];
    for await (const response of createClient(ServerReflection, grpc).serverReflectionInfo(ask())) {
      if (response.messageResponse.case === 'listServicesResponse')
        names.push(...response.messageResponse.value.service.map(({ name }) => name));
    }
    expect(names).toEqual(
      expect.arrayContaining(['ticketing.tickets.v1.TicketService', 'ticketing.tickets.v1.TagService']),
    );
  });
});
