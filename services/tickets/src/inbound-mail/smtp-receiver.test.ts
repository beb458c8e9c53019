import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { withinCpuTime, withoutBlocking } from '@ticketing/testkit/machine-limits.ts';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { mailLimits } from './mail.ts';
import { defaultSmtpLimits, type MailHandler, type SmtpLimits, startSmtpReceiver } from './smtp-receiver.ts';

const opened: { end(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.end();
});

interface Received {
  mail: string;
  from: string;
  recipients: readonly string[];
}

interface StartOptions {
  limits?: Partial<SmtpLimits>;
  receive?: MailHandler['receive'];
  findMailbox?: MailHandler['findMailbox'];
  tls?: { cert: string; key: string };
}

async function start({ limits = {}, receive, findMailbox, tls }: StartOptions = {}) {
  const received: Received[] = [];
  const log = createLogger('test', 'silent');
  let port = 0;
  const info = vi.spyOn(log, 'info').mockImplementation((fields: unknown) => {
    port ||= (fields as { address?: { port: number } }).address?.port ?? 0;
  });
  const loop: WakefulLoop = await startSmtpReceiver({
    config: { host: '127.0.0.1', port: 0 },
    limits: { ...defaultSmtpLimits, bytesInFlight: 160 * 1024 * 1024, ...limits },
    tls: {
      files: () => ({ ca: undefined, clientCa: undefined, cert: undefined, key: undefined, ...tls }) as never,
      onChange: () => () => true,
    },
    log,
    handler: {
      findMailbox: findMailbox ?? (async (address) => (address === 'support@example.org' ? 1 : undefined)),
      receive:
        receive ??
        (async (mail, { from, to }) => {
          received.push({ mail: mail.toString('latin1'), from, recipients: to });
        }),
    },
  });
  info.mockRestore();
  opened.push({ end: () => loop.stop() });
  return { port, received, loop };
}

/** A client that sends lines and collects the replies. */
async function client(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  opened.push({ end: () => socket.destroy() });
  return talk(socket);
}

function talk(socket: Socket) {
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  const reply = async (count = 1) => {
    const lines = () => text.split('\r\n').filter((line) => /^\d{3} /.test(line));
    await expect.poll(() => lines().length, { timeout: 30_000, interval: 5 }).toBeGreaterThanOrEqual(count);
    const found = lines().slice(0, count);
    text = text.slice(text.indexOf(found.at(-1) ?? '') + (found.at(-1)?.length ?? 0));
    return found.map((line) => line.slice(0, 3)).join(' ');
  };
  return {
    socket,
    closed,
    reply,
    lastCode: () => text.trimEnd().split('\r\n').at(-1)?.slice(0, 3),
    write: (bytes: string | Buffer) => socket.write(bytes),
    async send(line: string) {
      socket.write(`${line}\r\n`);
      return reply();
    },
  };
}

type Client = ReturnType<typeof talk>;

async function greet(port: number): Promise<Client> {
  const smtp = await client(port);
  expect(await smtp.reply()).toBe('220');
  expect(await smtp.send('EHLO sender.example')).toBe('250');
  return smtp;
}

/** Lets a test advance the timers of this process, which run on as the clock does. */
function controlTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
}

async function begin(smtp: Client) {
  expect(await smtp.send('MAIL FROM:<ada@example.org>')).toBe('250');
  expect(await smtp.send('RCPT TO:<support@example.org>')).toBe('250');
  expect(await smtp.send('DATA')).toBe('354');
}

it('takes mails for its mailboxes, several on a connection, with dots and NUL as they are', async () => {
  const { port, received } = await start();
  const smtp = await greet(port);
  await begin(smtp);
  expect(await smtp.send('Subject: one\r\n\r\n..dot\0\r\n.')).toBe('250');
  await begin(smtp);
  expect(await smtp.send('Subject: two\r\n\r\n.')).toBe('250');
  expect(await smtp.send('QUIT')).toBe('221');
  expect(received).toMatchObject([
    { from: 'ada@example.org', mail: 'Subject: one\r\n\r\n.dot\0\r\n', recipients: ['support@example.org'] },
    { mail: 'Subject: two\r\n\r\n', recipients: ['support@example.org'] },
  ]);
});

// guarantee: I12
it('refuses other recipients, and takes the mail for the one that is known', async () => {
  const { port, received } = await start();
  const smtp = await greet(port);
  await smtp.send('MAIL FROM:<>');
  expect(await smtp.send('RCPT TO:<other@example.org>')).toBe('550');
  expect(await smtp.send('DATA')).toBe('503');
  expect(await smtp.send('RCPT TO:<support@example.org>')).toBe('250');
  expect(await smtp.send('DATA')).toBe('354');
  expect(await smtp.send('x\r\n.')).toBe('250');
  expect(received).toMatchObject([{ recipients: ['support@example.org'] }]);
});

it('handles commands that are sent at once', async () => {
  const { port, received } = await start();
  const smtp = await client(port);
  await smtp.reply();
  smtp.write('EHLO x\r\nMAIL FROM:<a@x.org>\r\nRCPT TO:<support@example.org>\r\nDATA\r\n');
  expect(await smtp.reply(4)).toBe('250 250 250 354');
  smtp.write('a\r\n.\r\nMAIL FROM:<b@x.org>\r\nRCPT TO:<no@x.org>\r\nQUIT\r\n');
  expect(await smtp.reply(4)).toBe('250 250 550 221');
  await smtp.closed;
  expect(received).toHaveLength(1);
});

// guarantee: I12
it('does not end a mail, or begin a command, at a bare line feed', async () => {
  const { port, received } = await start();
  const smtp = await greet(port);
  await begin(smtp);
  smtp.write('a\n.\nMAIL FROM:<evil@x.org>\n.\r\nb\r\n.\r\n');
  expect(await smtp.reply()).toBe('250');
  expect(received).toHaveLength(1);
  expect(received[0]?.mail).toContain('MAIL FROM:<evil@x.org>');
});

it('has no command to log in, and none of old programs', async () => {
  const { port } = await start();
  const smtp = await greet(port);
  for (const command of ['AUTH PLAIN AGEAYg==', 'WIZ x', 'SHELL', 'XCLIENT ADDR=1.2.3.4', 'STARTTLS']) {
    expect(await smtp.send(command)).toBe('500');
  }
});

it('refuses addresses with control characters', async () => {
  const { port } = await start({ findMailbox: async () => 1 });
  const smtp = await greet(port);
  expect(await smtp.send('MAIL FROM:<a\0b@x.org>')).toBe('501');
  expect(await smtp.send('MAIL FROM:<a@x.org> ENVID=a+0D+0Ab')).toBe('501');
  expect(await smtp.send('MAIL FROM:<a@x.org>')).toBe('250');
  expect(await smtp.send('RCPT TO:<a\x1b@x.org>')).toBe('501');
});

// guarantee: I12
it('takes a mail of 40 MiB, and refuses one byte more with 552', async () => {
  const { port, received } = await start();
  const smtp = await greet(port);
  const line = `${'x'.repeat(1022)}\r\n`;
  const mail = Buffer.from(line.repeat(mailLimits.bytes / 1024));
  expect(await smtp.send(`MAIL FROM:<a@x.org> SIZE=${mailLimits.bytes + 1}`)).toBe('552');
  await begin(smtp);
  smtp.write(mail);
  expect(await smtp.send('.')).toBe('250');
  expect(received[0]?.mail).toHaveLength(mailLimits.bytes);
  await begin(smtp);
  smtp.write(Buffer.concat([Buffer.from('y'), mail]));
  expect(await smtp.send('.')).toBe('552');
  expect(received).toHaveLength(1);
  expect(await smtp.send('NOOP')).toBe('250');
});

// guarantee: I11
it('takes a mail of 2 MiB of lines that are a dot without blocking, and one of 40 MiB', async () => {
  const { port, received } = await start();
  const smtp = await greet(port);
  const send = async (mib: number) => {
    await begin(smtp);
    smtp.write('..\r\n'.repeat(mib * 256 * 1024));
    expect(await smtp.send('.')).toBe('250');
  };
  await withoutBlocking(50, () => send(2));
  expect(received[0]?.mail).toBe('.\r\n'.repeat(512 * 1024));
  await withinCpuTime(5000, () => send(40));
});

// guarantee: I11
it('refuses a mail in too many pieces for good', async () => {
  const { port, received } = await start();
  const smtp = await greet(port);
  smtp.socket.setNoDelay(true);
  await begin(smtp);
  for (let piece = 0; piece < 60_000; piece++) {
    smtp.write('x');
    await setImmediate();
  }
  expect(await smtp.send('\r\n.')).toBe('554');
  await begin(smtp);
  expect(await smtp.send('x\r\n.')).toBe('250');
  expect(received).toHaveLength(1);
});

// guarantee: I12
it('asks to try again if the mails in flight are too large, and goes on', async () => {
  const { port, received } = await start({ limits: { bytesInFlight: 4 * 1024 * 1024 } });
  const smtp = await greet(port);
  const mail = (bytes: number) => `${'x'.repeat(bytes - 5)}\r\n.`;
  await begin(smtp);
  expect(await smtp.send(mail(3 * 1024 * 1024))).toBe('451');
  await begin(smtp);
  expect(await smtp.send(mail(1024 * 1024))).toBe('250');
  expect(received).toHaveLength(1);
});

it.each([
  [new DomainError('unavailable', 'store_unavailable', 'away'), '451'],
  [new DomainError('invalid_argument', 'invalid_mail', 'no sender'), '554'],
  [new DomainError('invalid_argument', 'mail_too_large', 'large'), '552'],
  [new DomainError('failed_precondition', 'mail_loop', 'loop'), '554'],
  [new Error('a bug'), '451'],
])('replies to the error %s with %s', async (error, code) => {
  const { port } = await start({
    receive: async () => {
      throw error;
    },
  });
  const smtp = await greet(port);
  await begin(smtp);
  expect(await smtp.send('x\r\n.')).toBe(code);
});

it('asks to try again if it is not known which mailboxes there are', async () => {
  const { port } = await start({
    findMailbox: async () => {
      throw new DomainError('unavailable', 'settings_unavailable', 'not known yet');
    },
  });
  const smtp = await greet(port);
  await smtp.send('MAIL FROM:<a@x.org>');
  expect(await smtp.send('RCPT TO:<support@example.org>')).toBe('451');
});

// guarantee: I12
it('has limits of recipients, connections, connections of an address, and idle time', async () => {
  const { port } = await start({ findMailbox: async () => 1, limits: { recipients: 2, connectionsPerAddress: 2 } });
  const smtp = await greet(port);
  await smtp.send('MAIL FROM:<a@x.org>');
  const codes = [];
  for (const name of ['a', 'b', 'c']) codes.push(await smtp.send(`RCPT TO:<${name}@x.org>`));
  expect(codes).toEqual(['250', '250', '452']);
  const second = await greet(port);
  expect(await (await client(port)).reply()).toBe('421');
  second.socket.end();
  await second.closed;
  await greet(port);

  const one = await start({ limits: { connections: 1 } });
  await greet(one.port);
  expect(await (await client(one.port)).reply()).toBe('421');

  const idle = await start({ limits: { idleMs: 200 } });
  const silent = await client(idle.port);
  silent.socket.once('data', () => silent.write('EHLO sender.example\r\n'));
  await silent.closed;
  expect(silent.lastCode()).toBe('421');
});

it('takes a mail for ten mailboxes at once, and lets its sender transfer it again for others', async () => {
  const { port, received } = await start({ findMailbox: async (address) => Number(/\d+/.exec(address)?.[0]) });
  const smtp = await greet(port);
  const codesOf = async (names: readonly string[]) => {
    await smtp.send('MAIL FROM:<>');
    const codes = [];
    for (const name of names) codes.push(await smtp.send(`RCPT TO:<${name}@x.org>`));
    await smtp.send('DATA');
    await smtp.send('Subject: all\r\n\r\n.');
    return codes;
  };
  const names = Array.from({ length: 12 }, (_, index) => `box${index}`);
  expect(await codesOf([...names, 'again0'])).toEqual([...Array(10).fill('250'), '452', '452', '250']);
  expect(await codesOf(names.slice(10))).toEqual(['250', '250']);
  expect(received.map(({ from, recipients }) => [from, recipients.length])).toEqual([
    ['', 11],
    ['', 2],
  ]);
});

// guarantee: I12
it('ends a session after its total time, also while it receives a mail', async () => {
  controlTimers();
  const { sessionMs } = defaultSmtpLimits;
  const { port, received } = await start();
  const slow = await greet(port);
  await begin(slow);
  vi.advanceTimersByTime(sessionMs / 2);
  expect(await slow.send('x\r\n.')).toBe('250');
  await begin(slow);
  slow.write('x');
  vi.advanceTimersByTime(sessionMs / 2);
  expect(await slow.reply()).toBe('421');
  await slow.closed;
  expect(received).toHaveLength(1);
});

it('ends a session in which no mail begins in time, also if it sends commands, and not one that receives a mail', async () => {
  controlTimers();
  const { beforeMailMs } = defaultSmtpLimits;
  const { port, received } = await start();
  const busy = await greet(port);
  await busy.send('MAIL FROM:<a@x.org>');
  vi.advanceTimersByTime(beforeMailMs / 2);
  expect(await busy.send('NOOP')).toBe('250');
  vi.advanceTimersByTime(beforeMailMs / 2);
  expect(await busy.reply()).toBe('421');
  await busy.closed;
  const slow = await greet(port);
  await begin(slow);
  slow.write('x');
  vi.advanceTimersByTime(beforeMailMs);
  expect(await slow.send('\r\n.')).toBe('250');
  expect(received).toHaveLength(1);
  await begin(slow);
  expect(await slow.send('x\r\n.')).toBe('250');
  vi.advanceTimersByTime(beforeMailMs);
  expect(await slow.reply()).toBe('421');
  await slow.closed;
});

it('does not hand over a mail whose connection ends before it', async () => {
  const { port, received, loop } = await start();
  const smtp = await greet(port);
  await begin(smtp);
  smtp.write('Subject: half\r\n\r\nx\r\n');
  smtp.socket.destroy();
  await smtp.closed;
  await loop.stop();
  expect(received).toEqual([]);
});

it('completes the mail that is being received when it stops, ends idle sessions, and takes no more', async () => {
  let finish: (() => void) | undefined;
  const { port, loop } = await start({
    receive: () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  });
  const idle = await greet(port);
  const smtp = await greet(port);
  await begin(smtp);
  smtp.write('x\r\n.\r\n');
  await expect.poll(() => finish).toBeDefined();
  const stopped = loop.stop();
  expect(await idle.reply()).toBe('421');
  finish?.();
  expect(await smtp.reply()).toBe('250');
  await smtp.closed;
  await stopped;
  const late = connect(port, '127.0.0.1');
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
});

it('refuses to start on a port that is taken', async () => {
  const { port } = await start();
  await expect(
    startSmtpReceiver({
      config: { host: '127.0.0.1', port },
      limits: { ...defaultSmtpLimits, bytesInFlight: 1 },
      tls: { files: () => ({}) as never, onChange: () => () => true },
      log: createLogger('test', 'silent'),
      handler: { findMailbox: async () => 1, receive: async () => undefined },
    }),
  ).rejects.toThrow('EADDRINUSE');
});

it('offers TLS with a certificate, and forgets what was said before', async () => {
  const authority = createAuthority('test');
  const { port, received } = await start({ tls: authority.issue(['localhost']) });
  const plain = await greet(port);
  expect(await plain.send('MAIL FROM:<before@x.org>')).toBe('250');
  plain.write('STARTTLS\r\nRSET\r\n');
  expect(await plain.reply()).toBe('220');
  plain.socket.removeAllListeners('data');
  const secure = connectTls({ socket: plain.socket, ca: authority.cert, servername: 'localhost' });
  await once(secure, 'secureConnect');
  const smtp = talk(secure);
  expect(await smtp.send('RCPT TO:<support@example.org>')).toBe('503');
  expect(await smtp.send('EHLO x')).toBe('250');
  await begin(smtp);
  expect(await smtp.send('secret\r\n.')).toBe('250');
  expect(received).toHaveLength(1);
});
