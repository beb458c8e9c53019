import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import { type BodyCollector, type CollectedBody, collectBody } from './body-collector.ts';
import { findErrorCode } from './guarded-connector.ts';
import { OutboundError } from './outbound-error.ts';

/** How the response of an exchange is read. */
export interface ExchangeOptions {
  maxBytes: number;
  /** Whether a body that is too long is an error; otherwise its start is the result. */
  refusesLongBody: boolean;
  /** Whether a response is used by its headers alone, so that its body is not read. */
  skipsBody(status: number, headers: IncomingHttpHeaders): boolean;
  /** Ends the exchange with its reason as the error. */
  signal: AbortSignal;
}

/** A response whose body was read. */
export interface ExchangeResult extends CollectedBody {
  status: number;
  headers: IncomingHttpHeaders;
}

/** The connection that carries an exchange. */
export interface Connection {
  /** The address of the server; undefined while there is no connection. */
  address: string | undefined;
  /** Returns how many bytes were received on it. */
  bytesReceived(): number;
}

/** Interim responses (1xx) that a server may send before its response. */
const maxInterim = 10;
/** Bytes of headers and of small chunks that a response may have besides its body, and how much longer chunks make it. */
const overheadBytes = 64 * 1024;
const overheadFactor = 8;
const watchMs = 50;

const skipped: CollectedBody = { bytes: Buffer.alloc(0), isComplete: false };

/**
 * The handler with which an undici dispatcher makes one request and reads its response. It ends with the first of: a
 * response that was read, a response that is not read further, an error, the signal. In the last three cases its
 * connection is destroyed.
 *
 * Errors: an OutboundError, or the reason of the signal.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly result: Promise<ExchangeResult>;
  /** The connection that may carry this exchange. */
  connection: Connection | undefined;
  /** The address to which the request was sent. */
  address: string | undefined;
  /** The status of the response, once it has begun. */
  status: number | undefined;

  readonly #options: ExchangeOptions;
  readonly #settle: PromiseWithResolvers<ExchangeResult>;
  readonly #onAbort = () => this.#fail(this.#options.signal.reason);
  #controller: Dispatcher.DispatchController | undefined;
  #collector: BodyCollector | undefined;
  #isSettled = false;
  #interim = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#settle = Promise.withResolvers();
    this.result = this.#settle.promise;
    if (options.signal.aborted) this.#onAbort();
    else options.signal.addEventListener('abort', this.#onAbort);
  }

  /** Called when the request is about to be sent on a connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) {
      controller.abort(new Error('The exchange has ended.'));
      return;
    }
    this.#controller = controller;
    this.address = this.connection?.address;
    this.#watchBytes();
  }

  /** Ends the exchange when more was received than a response can need: the parser drops what is in chunk extensions. */
  #watchBytes(): void {
    const { connection } = this;
    if (!connection) return;
    const most = connection.bytesReceived() + overheadBytes + overheadFactor * this.#options.maxBytes;
    this.#watch = setInterval(() => {
      if (connection.bytesReceived() > most) this.#fail(new OutboundError('response_too_large'));
    }, watchMs).unref();
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isSettled) return;
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > maxInterim) this.#fail(new OutboundError('protocol_error', { code: 'TOO_MANY_INTERIM' }));
      return;
    }
    this.status = status;
    const { maxBytes, refusesLongBody, skipsBody } = this.#options;
    if (skipsBody(status, headers)) {
      this.#succeed({ status, headers, ...skipped });
      return;
    }
    if (refusesLongBody && Number(headers['content-length']) > maxBytes) {
      this.#fail(new OutboundError('response_too_large'));
      return;
    }
    try {
      const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
      // Not the given controller: when the response has ended, its connection may carry another one.
      this.#collector = collectBody(encoding, maxBytes, () => this.#controller?.resume());
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#collector.body.then(
      (body) => {
        if (refusesLongBody && !body.isComplete) this.#fail(new OutboundError('response_too_large'));
        else this.#succeed({ status, headers, ...body });
      },
      (error: unknown) => this.#fail(error),
    );
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    if (this.#collector?.write(part) === false) controller.pause();
  }

  onResponseEnd(): void {
    // Nothing is left to abort.
    this.#controller = undefined;
    this.#collector?.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#controller = undefined;
    this.#fail(exchangeError(error));
  }

  #succeed(result: ExchangeResult): void {
    if (this.#isSettled) return;
    this.#settle.resolve(result);
    this.#close();
  }

  #fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#settle.reject(error);
    this.#close();
  }

  #close(): void {
    this.#isSettled = true;
    clearInterval(this.#watch);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#collector?.stop();
    this.#controller?.abort(new Error('The exchange has ended.'));
  }
}

function exchangeError(error: Error): OutboundError {
  if (error instanceof OutboundError) return error;
  const isRequest = error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError;
  return new OutboundError(isRequest ? 'request_refused' : 'protocol_error', { code: findErrorCode(error) });
}
