import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from './harness.ts';
import { startStub } from './stub-service.ts';

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startHarness({ DEADLINE_MS: '300' });
});

afterAll(() => harness.stop());

describe('a service that', () => {
  it('is away is answered for with 503, until it is back; nothing else suffers', async () => {
    const other = await startHarness();
    const port = Number(new URL(other.stub.url).port);
    await other.stub.close();
    const answer = await other.call('GET', '/ticket/1');
    expect(answer.json).toMatchObject({ status: 503, code: 'upstream_unavailable', instance: '/ticket/1' });
    expect(answer.headers['retry-after']).toBe('1');
    expect((await other.callBare('GET', '/readyz')).status).toBe(200);
    expect((await other.call('POST', '/auth/session')).status).toBe(200);
    const back = await startStub(port);
    expect((await other.call('GET', '/ticket/1')).status).toBe(200);
    await back.close();
    await other.stop();
  });

  it('has no address is answered for with 503', async () => {
    const other = await startHarness({ TICKETS_URL: 'http://tickets.invalid:8081' });
    expect((await other.call('GET', '/ticket/1')).json).toMatchObject({ status: 503, code: 'upstream_unavailable' });
    await other.stop();
  });

  it('does not answer in time is answered for with 504', async () => {
    const calls: IncomingMessage[] = [];
    harness.stub.next((request) => calls.push(request));
    const answer = await harness.call('GET', '/ticket/1');
    expect(answer.json).toMatchObject({ status: 504, code: 'deadline_exceeded', title: 'Deadline exceeded' });
    expect(calls).toHaveLength(1);
  });

  it('resets the connection is answered for with 502, and not called again', async () => {
    let calls = 0;
    const reset = (request: IncomingMessage) => {
      calls += 1;
      harness.stub.next(reset);
      request.socket.resetAndDestroy();
    };
    for (const verb of ['GET', 'POST']) {
      harness.stub.next(reset);
      expect((await harness.call(verb, '/ticket')).json).toMatchObject({ status: 502, code: 'upstream_failed' });
    }
    expect(calls).toBe(2);
    harness.stub.next((_, response) => response.end());
    await harness.call('GET', '/ticket');
  });

  it('does not speak HTTP is answered for with 502', async () => {
    const babble = createServer((socket) => socket.on('error', () => undefined).end('hello\r\n\r\n'));
    babble.listen(0, '127.0.0.1');
    await once(babble, 'listening');
    const address = babble.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const other = await startHarness({ TICKETS_URL: `http://127.0.0.1:${port}` });
    expect((await other.call('GET', '/ticket/1')).json).toMatchObject({ status: 502, code: 'upstream_failed' });
    await other.stop();
    babble.close();
  });

  it('answers 503 itself is not called again', async () => {
    let calls = 0;
    harness.stub.next((_, response) => {
      calls += 1;
      response.writeHead(503, { 'retry-after': '0', 'content-type': 'application/problem+json' }).end('{"code":"own"}');
    });
    const answer = await harness.call('GET', '/ticket/1');
    expect(answer).toMatchObject({ status: 503, json: { code: 'own' } });
    expect(calls).toBe(1);
  });

  it('breaks off in mid-answer never looks like a whole answer', async () => {
    harness.stub.next((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"a":', () => response.destroy());
    });
    await expect(harness.call('GET', '/ticket/1')).rejects.toThrow();
  });

  it('takes its time with the rest of its answer is waited for', async () => {
    harness.stub.next((_, response) => {
      response.write('{"a":');
      setTimeout(() => response.write('1'), 200);
      setTimeout(() => response.end('}'), 400);
    });
    expect((await harness.call('GET', '/ticket/1')).body.toString()).toBe('{"a":1}');
  });
});

describe('a client that goes away', () => {
  it('ends the call of the service, before and during the answer', async () => {
    const patient = await startHarness();
    for (const begins of [false, true]) {
      const called = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      patient.stub.next((request, response) => {
        request.socket.once('close', () => ended.resolve());
        if (begins) response.write('x');
        called.resolve();
      });
      const client = httpRequest({
        host: '127.0.0.1',
        port: patient.gateway.ports.http,
        path: '/ticket/1',
        headers: { authorization: patient.bearer },
      });
      client
        .on('error', () => undefined)
        .on('response', (answer) => answer.on('error', () => undefined))
        .end();
      if (begins) await once(client, 'response');
      await called.promise;
      client.destroy();
      await ended.promise;
    }
    await patient.stop();
  });
});
