import { type Environment, readConfig } from '@ticketing/runtime/config-reader.ts';
import { expect, test } from 'vitest';
import { readMailConfig } from './config.ts';

const read = (values: Environment) => {
  const variables = Object.entries(values).map(([name, value]) => [`TICKETING_TICKETS_${name}`, value]);
  return readConfig(Object.fromEntries(variables), { service: 'tickets', services: ['tickets'] }, readMailConfig);
};
const smtp = { host: 'mail.example', port: 587, tls: 'required', maxConnections: 4 };
const credentials = { SMTP_USER: 'shop', SMTP_PASSWORD: 'secret' };

test.each([
  [{}, undefined],
  [{ MAIL_FOLDER: '/mails' }, { kind: 'folder', folder: '/mails' }],
  [{ SMTP_URL: 'smtp://mail.example' }, { kind: 'smtp', smtp }],
  [{ SMTP_URL: 'smtp://mail.example:25', SMTP_STARTTLS: 'optional' }, { smtp: { ...smtp, port: 25, tls: 'optional' } }],
  [{ SMTP_URL: 'smtps://mail.example/' }, { smtp: { ...smtp, port: 465, tls: 'implicit' } }],
  [{ SMTP_URL: 'smtp://[::1]:2525' }, { smtp: { ...smtp, host: '::1', port: 2525, tls: 'optional' } }],
  [{ SMTP_URL: 'smtp://127.0.0.1', ...credentials }, { smtp: { tls: 'optional', credentials: { user: 'shop' } } }],
  [
    { SMTP_URL: 'smtp://mail.example', ...credentials },
    { smtp: { tls: 'required', credentials: { password: 'secret' } } },
  ],
])('reads %j', (values, mail) => {
  if (mail) expect(read(values)).toMatchObject({ mail });
  else expect(read(values)).toEqual({ mail: undefined });
});

test.each([
  [{ SMTP_URL: 'mail.example' }, 'SMTP_URL must be like'],
  [{ SMTP_URL: 'http://mail.example' }, 'SMTP_URL must be like'],
  [{ SMTP_URL: 'smtp://shop:secret@mail.example' }, 'SMTP_URL must be like'],
  [{ SMTP_URL: 'smtp://mail.example/path' }, 'SMTP_URL must be like'],
  [{ SMTP_URL: 'smtp://mail.example?x=y' }, 'SMTP_URL must be like'],
  [{ SMTP_URL: 'smtp://mail.example', MAIL_FOLDER: '/mails' }, 'Only one of SMTP_URL and MAIL_FOLDER'],
  [{ SMTP_URL: 'smtp://mail.example', SMTP_USER: 'shop' }, 'belong together'],
  [{ MAIL_FOLDER: '/mails', ...credentials }, 'with SMTP_URL only'],
  [{ SMTP_URL: 'smtp://mail.example', SMTP_STARTTLS: 'optional', ...credentials }, 'with TLS only'],
  [{ SMTP_URL: 'smtp://127.0.0.1.example', SMTP_STARTTLS: 'optional', ...credentials }, 'with TLS only'],
  [{ SMTP_URL: 'smtp://mail.example', SMTP_CONNECTIONS: '101' }, 'from 1 to 100'],
  [{ SMTP_URL: 'smtp://mail.example', SMTP_CLIENT_NAME: 'a b' }, 'SMTP_CLIENT_NAME must be'],
])('refuses %j, and does not repeat secrets', (values, problem) => {
  expect(() => read(values)).toThrow(problem);
  expect(() => read(values)).not.toThrow('secret');
});
