import { resolve } from 'node:path';
import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { folderTransport, type SmtpConfig, smtpTransport } from './transport.ts';

export interface MailConfig {
  mail: MailDestination | undefined;
}

type MailDestination = { kind: 'smtp'; smtp: SmtpConfig } | { kind: 'folder'; folder: string };

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const defaultPorts = new Map([
  ['smtp:', 587],
  ['smtps:', 465],
]);

/**
 * Reads `SMTP_URL` with the other variables of the mail server, or `MAIL_FOLDER`.
 *
 * Source: docs/services/mail.md, Outgoing.
 */
export function readMailConfig(from: ConfigReader): MailConfig {
  const folder = from.optionalText('MAIL_FOLDER');
  const url = from.optionalText('SMTP_URL', {
    accepts: isServerUrl,
    meaning: 'like smtp://mail.example:587 or smtps://mail.example, without credentials and path',
  });
  const smtp = readSmtp(from, url !== undefined && isServerUrl(url) ? new URL(url) : undefined);
  if (url !== undefined && folder !== undefined) from.refuse('Only one of SMTP_URL and MAIL_FOLDER can be set.');
  if (smtp) return { mail: { kind: 'smtp', smtp } };
  return { mail: folder === undefined ? undefined : { kind: 'folder', folder: resolve(folder) } };
}

function readSmtp(from: ConfigReader, url: URL | undefined): SmtpConfig | undefined {
  const user = from.optionalText('SMTP_USER');
  const password = from.optionalText('SMTP_PASSWORD');
  const isLocal = url !== undefined && loopback.test(url.hostname);
  const startTls = from.choice('SMTP_STARTTLS', ['required', 'optional'], isLocal ? 'optional' : 'required');
  const clientName = from.optionalText('SMTP_CLIENT_NAME', { pattern: /^[A-Za-z0-9.-]+$/ });
  const maxConnections = from.integer('SMTP_CONNECTIONS', { default: 4, min: 1, max: 100 });
  if ((user === undefined) !== (password === undefined)) from.refuse('SMTP_USER and SMTP_PASSWORD belong together.');
  if (!url) {
    if (user !== undefined) from.refuse('SMTP_USER and SMTP_PASSWORD are used with SMTP_URL only.');
    return undefined;
  }
  const isImplicit = url.protocol === 'smtps:';
  if (user !== undefined && !isLocal && !isImplicit && startTls === 'optional') {
    from.refuse('SMTP_USER and SMTP_PASSWORD are sent with TLS only: SMTP_STARTTLS must be required.');
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || defaultPorts.get(url.protocol)),
    tls: isImplicit ? 'implicit' : startTls,
    credentials: user !== undefined && password !== undefined ? { user, password } : undefined,
    clientName,
    maxConnections,
  };
}

function isServerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  const isBare = username + password + search + hash === '' && ['', '/'].includes(pathname);
  return defaultPorts.has(protocol) && hostname !== '' && isBare;
}

const filesAtOnce = 4;

/** Opens the transport to a destination, with a sentence about it, and says how many mails it takes at once. */
export function openTransport(destination: MailDestination) {
  if (destination.kind === 'folder') {
    const { folder } = destination;
    return {
      transport: folderTransport(folder),
      description: `mails are put into ${folder}`,
      maxConcurrent: filesAtOnce,
    };
  }
  const { host, port, maxConnections } = destination.smtp;
  return {
    transport: smtpTransport(destination.smtp),
    description: `mails are sent to the mail server ${host}:${port}`,
    maxConcurrent: maxConnections,
  };
}
