import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import tls from 'node:tls';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { type Behaviour, reply, startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { expect, onTestFinished, test } from 'vitest';
import { type ComposedMail, type SmtpConfig, smtpTransport } from './transport.ts';

const text = 'Message-ID: <1@shop.example>\r\nSubject: x\r\n\r\n.\r\n..two dots\r\nbody\r\n';
const bothTo = ['a@example.com', 'b@example.com'];
const never = new AbortController().signal;

const mail: ComposedMail = {
  messageId: '<1@shop.example>',
  envelope: { from: 'help@shop.example', to: bothTo },
  open: () => Readable.from([Buffer.from(text)]),
};

async function open(behaviour: Behaviour = {}, config: Partial<SmtpConfig> = {}, silenceMs = 2_000) {
  const server = await startSmtpReceiver(behaviour);
  onTestFinished(() => server.close());
  const transport = smtpTransport(
    {
      ...{ host: '127.0.0.1', port: server.port, tls: 'optional', credentials: undefined },
      ...{ clientName: undefined, maxConnections: 2, ...config },
    },
    { connectMs: 2_000, silenceMs },
  );
  onTestFinished(() => transport.close());
  return { server, transport };
}

const accepted = { accepted: bothTo, deferred: [], refused: [], error: null };
const deferred = { accepted: [], deferred: bothTo, refused: [], error: expect.any(String) };
const refused = { accepted: [], deferred: [], refused: bothTo, error: expect.any(String) };

test('the server gets the same bytes and recipients, over one connection for several mails', async () => {
  const { server, transport } = await open();
  for (let count = 0; count < 3; count += 1) expect(await transport.send(mail, never)).toEqual(accepted);
  expect(server.mails).toHaveLength(3);
  expect(server.mails[0]).toMatchObject({ from: 'help@shop.example', to: bothTo });
  expect(server.mails[0]?.bytes.toString()).toBe(text);
  expect(server.connections()).toBe(1);
});

test.each([
  ['MAIL FROM', (): Behaviour => ({ onMailFrom: (_address, _session, done) => done(reply(451, 'greylisted')) })],
  ['RCPT TO', (): Behaviour => ({ onRcptTo: (_address, _session, done) => done(reply(450, 'greylisted')) })],
  ['the end of the mail', (): Behaviour => ({ accept: () => Promise.reject(reply(452, 'disk full')) })],
  ['the greeting', (): Behaviour => ({ onConnect: (_session, done) => done(reply(421, 'busy')) })],
  // Not about the mail: the same mail is accepted as soon as the server is in order.
  ['the greeting, permanently', (): Behaviour => ({ onConnect: (_session, done) => done(reply(554, 'no service')) })],
  // guarantee: F12
])('a 4xx to %s defers the mail', async (_where, behaviour) => {
  const { server, transport } = await open(behaviour());
  expect(await transport.send(mail, never)).toEqual(deferred);
  expect(server.mails).toEqual([]);
});

test.each([
  ['MAIL FROM', (): Behaviour => ({ onMailFrom: (_address, _session, done) => done(reply(550, 'no')) })],
  ['RCPT TO', (): Behaviour => ({ onRcptTo: (_address, _session, done) => done(reply(550, 'unknown')) })],
  ['the end of the mail', (): Behaviour => ({ accept: () => Promise.reject(reply(554, 'spam')) })],
  // guarantee: F12
])('a 5xx to %s refuses the mail, and says why', async (_where, behaviour) => {
  const { server, transport } = await open(behaviour());
  const outcome = await transport.send(mail, never);
  expect(outcome).toEqual(refused);
  expect(outcome.error).toMatch(/55[04]/);
  expect(server.mails).toEqual([]);
});

test('each recipient has an outcome of its own', async () => {
  const to = ['ok@example.com', 'later@example.com', 'never@example.com'];
  const { server, transport } = await open({
    onRcptTo({ address }, _session, done) {
      if (address.startsWith('ok')) done();
      else done(address.startsWith('later') ? reply(451, 'later') : reply(550, 'never'));
    },
  });
  expect(await transport.send({ ...mail, envelope: { from: 'help@shop.example', to } }, never)).toEqual({
    accepted: ['ok@example.com'],
    deferred: ['later@example.com'],
    refused: ['never@example.com'],
    error: expect.any(String),
  });
  expect(server.mails).toMatchObject([{ to: ['ok@example.com'] }]);
  const onlyRefused = { ...mail, envelope: { from: 'help@shop.example', to: to.slice(1) } };
  expect(await transport.send(onlyRefused, never)).toMatchObject({
    deferred: ['later@example.com'],
    refused: ['never@example.com'],
  });
});

test('a refused recipient is known by every spelling in which its address is sent', async () => {
  const to = ['a..b@example.com', 'küm@xn--mller-kva.example', 'never@example.com'];
  const { server, transport } = await open({
    onRcptTo: ({ address }, _session, done) => done(/^n/.test(address) ? undefined : reply(550, 'unknown')),
  });
  expect(await transport.send({ ...mail, envelope: { from: 'help@shop.example', to } }, never)).toMatchObject({
    accepted: ['never@example.com'],
    refused: to.slice(0, 2),
  });
  expect(server.mails).toMatchObject([{ to: ['never@example.com'] }]);
});

test('wrong credentials defer the mail, although the server responds with 535', async () => {
  const onAuth: Behaviour['onAuth'] = ({ password }, _session, done) =>
    password === 'right' ? done(null, { user: 'shop' }) : done(new Error('Invalid username or password'));
  const wrong = await open({ onAuth, authOptional: false }, { credentials: { user: 'shop', password: 'wrong' } });
  const outcome = await wrong.transport.send(mail, never);
  expect(outcome).toEqual(deferred);
  expect(outcome.error).not.toContain('wrong');
  const right = await open({ onAuth, authOptional: false }, { credentials: { user: 'shop', password: 'right' } });
  expect(await right.transport.send(mail, never)).toEqual(accepted);
});

test('without TLS nothing is sent where TLS is required, no credentials either', async () => {
  const credentials = { user: 'shop', password: 'secret' };
  let hasAuthenticated = false;
  const { server, transport } = await open(
    {
      onAuth(_auth, _session, done) {
        hasAuthenticated = true;
        done(null, { user: 'shop' });
      },
    },
    { tls: 'required', credentials },
  );
  expect(await transport.send(mail, never)).toEqual(deferred);
  expect([server.mails.length, hasAuthenticated]).toEqual([0, false]);
});

test('a certificate that is not trusted defers the mail; with a trusted one it is sent', async () => {
  const authority = createAuthority('mail');
  const { cert, key } = authority.issue(['localhost']);
  const behaviour = { disabledCommands: ['AUTH'], cert, key };
  const untrusted = await open(behaviour, { tls: 'required', host: 'localhost' });
  expect(await untrusted.transport.send(mail, never)).toEqual(deferred);
  expect(untrusted.server.mails).toEqual([]);
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, authority.cert]);
  onTestFinished(() => tls.setDefaultCACertificates(before));
  const trusted = await open(behaviour, { tls: 'required', host: 'localhost' });
  expect(await trusted.transport.send(mail, never)).toEqual(accepted);
  const implicit = await open({ ...behaviour, secure: true }, { tls: 'implicit', host: 'localhost' });
  expect(await implicit.transport.send(mail, never)).toEqual(accepted);
});

// guarantee: F12
test('a server that drops the connection defers the mail, wherever it does', async () => {
  const atConnect = await open({ onConnect: () => atConnect.server.breakConnections() });
  expect(await atConnect.transport.send(mail, never)).toEqual(deferred);
  const inData = await open({ onData: () => inData.server.breakConnections() });
  expect(await inData.transport.send(mail, never)).toEqual(deferred);
});

test('a connection that the server has closed since the last mail is replaced', async () => {
  const { server, transport } = await open();
  expect(await transport.send(mail, never)).toEqual(accepted);
  server.breakConnections();
  await expect.poll(() => transport.send(mail, never)).toEqual(accepted);
  expect(server.connections()).toBeGreaterThan(1);
});

// guarantee: F12
test('a server that hangs defers the mail, and a signal ends the attempt at once', async () => {
  const { transport } = await open({ onData: () => undefined }, {}, 300);
  expect(await transport.send(mail, never)).toEqual(deferred);
  const hanging = await open({ onData: () => undefined }, {}, 60_000);
  const stopping = new AbortController();
  const sent = hanging.transport.send(mail, stopping.signal);
  await expect.poll(() => hanging.server.connections()).toBe(1);
  stopping.abort(new Error('stopping'));
  await expect(sent).rejects.toThrow('stopping');
});

test('a port where nobody listens defers the mail', async () => {
  const { transport } = await open({}, { port: 1 });
  expect(await transport.send(mail, never)).toEqual(deferred);
});

// guarantee: F12
test('a mail that cannot be read to its end never reaches the server as a whole mail', async () => {
  const { server, transport } = await open({
    onData(stream, _session, done) {
      buffer(stream).then(
        (bytes) => {
          server.mails.push({ from: '', to: [], bytes });
          done();
        },
        () => undefined,
      );
    },
  });
  const broken = async function* () {
    yield Buffer.from(text);
    throw new Error('the store is unavailable');
  };
  expect(await transport.send({ ...mail, open: () => Readable.from(broken()) }, never)).toEqual(deferred);
  expect(await transport.send(mail, never)).toEqual(accepted);
  expect(server.mails).toHaveLength(1);
});
