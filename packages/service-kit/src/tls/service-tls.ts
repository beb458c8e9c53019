import type { Server } from 'node:net';
import { type TlsOptions, Server as TlsServer } from 'node:tls';
import { ConfigError } from '@ticketing/runtime/config-reader.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { defaultServerLimits, type ServerLimits } from '../config/server-limits.ts';
import type { TlsConfig } from '../config/tls-config.ts';
import { listenerContext, readTlsFiles, type TlsFiles } from './tls-files.ts';

/** The TLS of a service. Its files are read again while it runs, so that certificates are renewed without a restart. */
export interface ServiceTls {
  /** The TLS of its listeners; undefined without a certificate, and they listen without TLS. */
  listener: ListenerTls | undefined;
  /** Returns the contents of the files now. */
  files(): TlsFiles;
  /** Calls the listener after the files have changed. Returns a function that removes it. */
  onChange(listener: () => void): () => void;
  close(): void;
}

/** The TLS of a server. */
export interface ListenerTls {
  /** Returns the options with which the server is created. */
  options(): TlsOptions;
  /**
   * Gives the server the new certificates when the files change, until it is closed; open connections are kept. Ends
   * connections whose handshake fails.
   */
  attach(server: Server): void;
}

/**
 * Opens the TLS of a service. Changed files that cannot be used are logged, and the last usable ones stay in use: while
 * the files are being replaced, the certificate and the key do not fit each other for a moment.
 *
 * Errors: a ConfigError that lists every problem of the files.
 */
export function openServiceTls(
  config: TlsConfig,
  log: Logger,
  { handshakeMs }: Pick<ServerLimits, 'handshakeMs'> = defaultServerLimits,
): ServiceTls {
  let { files, problems } = readTlsFiles(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const listeners = new Set<() => void>();
  const onChange = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const reload = () => {
    const next = readTlsFiles(config);
    const isNewProblem = String(next.problems) !== String(problems);
    problems = next.problems;
    if (problems.length > 0) {
      if (isNewProblem) log.error({ problems }, 'the TLS files have changed and cannot be used; the last ones stay');
      return;
    }
    if (areEqual(files, next.files)) return;
    files = next.files;
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        log.error({ err: error }, 'a user of the changed TLS files failed; it may go on with the last ones');
      }
    }
    log.info('the TLS files have changed and are used from now on');
  };
  // The contents are compared, because a mounted Kubernetes secret is replaced by switching a symbolic link.
  const isUsed = [files.cert, files.ca].some((file) => file !== undefined);
  const timer = isUsed ? setInterval(reload, config.reloadMs).unref() : undefined;
  return {
    listener: files.cert && listenerTls(() => files, onChange, handshakeMs),
    files: () => files,
    onChange,
    close: () => clearInterval(timer),
  };
}

function areEqual(some: TlsFiles, others: TlsFiles): boolean {
  const contents = (files: TlsFiles) => [files.cert, files.key, files.ca, files.clientCa].map(String).join();
  return contents(some) === contents(others);
}

function listenerTls(files: () => TlsFiles, onChange: ServiceTls['onChange'], handshakeMs: number): ListenerTls {
  return {
    options: () => ({
      ...listenerContext(files()),
      handshakeTimeout: handshakeMs,
      ...(files().clientCa && { requestCert: true, rejectUnauthorized: true }),
    }),
    attach(server) {
      if (!(server instanceof TlsServer)) throw new Error('The server was created without TLS.');
      // Otherwise Fastify sends a problem document on the connection, which waits for the handshake for ever.
      server.on('tlsClientError', (_error, socket) => socket.destroy());
      server.once(
        'close',
        onChange(() => server.setSecureContext(listenerContext(files()))),
      );
    },
  };
}
