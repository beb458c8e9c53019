import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';
import { startStub } from '../../test/stub-service.ts';

let harness: GatewayHarness;
/** A gateway with a short deadline, which may pass before the service is called if the machine is busy. */
let impatient: GatewayHarness;

beforeAll(async () => {
  harness = await startHarness();
  impatient = await startHarness({ DEADLINE_MS: '300' });
});

afterAll(async () => {
  await harness.stop();
  await impatient.stop();
});

describe('a service', () => {
  // guarantee: F8
  // asvs: 16.5.2
  it('that is unreachable leads to 503 on its routes only, until it is reachable again', async () => {
    const other = await startHarness();
    const port = Number(new URL(other.stub.url).port);
    await other.stub.close();
    const response = await other.call('GET', '/ticket/1');
    expect(response.json).toMatchObject({ status: 503, code: 'upstream_unavailable', instance: '/ticket/1' });
    expect(response.headers['retry-after']).toBe('1');
    expect((await other.callBare('GET', '/readyz')).status).toBe(200);
    expect((await other.call('POST', '/auth/session')).status).toBe(200);
    const restarted = await startStub(port);
    expect((await other.call('GET', '/ticket/1')).status).toBe(200);
    await restarted.close();
    await other.stop();
  });

  it('whose host name does not resolve leads to 503', async () => {
    const other = await startHarness({ TICKETS_URL: 'http://tickets.invalid:8081' });
    expect((await other.call('GET', '/ticket/1')).json).toMatchObject({ status: 503, code: 'upstream_unavailable' });
    await other.stop();
  });

  it('that does not respond in time leads to 504', async () => {
    const calls: IncomingMessage[] = [];
    const call = async () => {
      impatient.stub.next((request) => calls.push(request));
      return (await impatient.call('GET', '/ticket/1')).json;
    };
    const problem = { status: 504, code: 'deadline_exceeded', title: 'Deadline exceeded' };
    await expect.poll(async () => [await call(), calls.length]).toMatchObject([problem, 1]);
  });

  it('that resets the connection leads to 502, and is not called again', async () => {
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

  it('that does not respond with HTTP leads to 502', async () => {
    const notHttp = createServer((socket) => socket.on('error', () => undefined).end('hello\r\n\r\n'));
    notHttp.listen(0, '127.0.0.1');
    await once(notHttp, 'listening');
    const address = notHttp.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const other = await startHarness({ TICKETS_URL: `http://127.0.0.1:${port}` });
    expect((await other.call('GET', '/ticket/1')).json).toMatchObject({ status: 502, code: 'upstream_failed' });
    await other.stop();
    notHttp.close();
  });

  it('that responds with 503 itself is not called again', async () => {
    let calls = 0;
    harness.stub.next((_, response) => {
      calls += 1;
      response.writeHead(503, { 'retry-after': '0', 'content-type': 'application/problem+json' }).end('{"code":"own"}');
    });
    const response = await harness.call('GET', '/ticket/1');
    expect(response).toMatchObject({ status: 503, json: { code: 'own' } });
    expect(calls).toBe(1);
  });

  // asvs: 4.2.2
  it('that breaks off in the middle of a response never looks like a complete response', async () => {
    harness.stub.next((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"a":', () => response.destroy());
    });
    await expect(harness.call('GET', '/ticket/1')).rejects.toThrow('aborted');
  });

  it('whose response begins in time may take longer to end', async () => {
    const call = async () => {
      const begun = Promise.withResolvers<ServerResponse>();
      impatient.stub.next((_, response) => {
        response.write('{"a":', () => begun.resolve(response));
      });
      const whole = impatient.call('GET', '/ticket/1');
      await Promise.race([begun.promise, whole]);
      // The deadline of a later call passes after that of this one.
      impatient.stub.next(() => undefined);
      expect((await impatient.call('GET', '/ticket/1')).status).toBe(504);
      begun.promise.then((response) => response.end('1}'));
      return (await whole).body.toString();
    };
    await expect.poll(call).toBe('{"a":1}');
  });
});

describe('a client that disconnects', () => {
  it('ends the call to the service, before and during the response', async () => {
    const other = await startHarness();
    for (const hasBegun of [false, true]) {
      const called = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      other.stub.next((request, response) => {
        once(request.socket, 'close').then(() => ended.resolve(), ended.reject);
        if (hasBegun) response.write('x');
        called.resolve();
      });
      const client = httpRequest({
        host: '127.0.0.1',
        port: other.gateway.ports.http,
        path: '/ticket/1',
        headers: { authorization: other.bearer },
      });
      client
        .on('error', () => undefined)
        .on('response', (response) => response.on('error', () => undefined))
        .end();
      if (hasBegun) await once(client, 'response');
      await called.promise;
      client.destroy();
      await ended.promise;
    }
    await other.stop();
  });
});
