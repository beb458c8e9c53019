import { OutboundError } from '@ticketing/outbound/outbound-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { DefaultCountry } from '@ticketing/text/phone-number.ts';
import { type Contract, type Customer, internationalPhone } from '../rules/customer.ts';
import { contractFromJson, customerFromJson } from './codec.ts';
import { type Erp, maxMatches } from './erp.ts';

/** How an ERP system is reached over HTTP. */
interface HttpErpOptions {
  baseUrl: string;
  /** Sent as a bearer token; undefined for none. */
  token: string | undefined;
  /** The country whose telephone numbers are written without its code. */
  country: DefaultCountry;
  timeoutMs: number;
}

/**
 * A request to the ERP system that has no response that can be used. It contains nothing of the URL, of the token or of
 * the response.
 */
class ErpRequestError extends Error {
  override readonly name = 'ErpRequestError';
}

const maxResponseBytes = 4 * 1024 * 1024;

/**
 * Opens an ERP system behind the endpoints that docs/services/erp.md describes.
 *
 * Errors of every operation: an ErpRequestError.
 */
export function httpErp(outbound: Pick<OutboundGuard, 'request'>, options: HttpErpOptions): Erp {
  const send = (method: 'GET' | 'POST', path: string, body?: object) => request(outbound, options, method, path, body);
  return {
    async search(query, page) {
      const response = await send('POST', 'customers/search', { ...query, ...page });
      const customers = readList(response, page.limit);
      return { customers, total: readTotal(response, page.offset + customers.length) };
    },
    async customer(id) {
      const response = isSegment(id) ? await send('GET', `customers/${encodeURIComponent(id)}`) : undefined;
      return response === undefined ? undefined : read(customerFromJson, response);
    },
    async contract(id) {
      const response = isSegment(id) ? await send('GET', `contracts/${encodeURIComponent(id)}`) : undefined;
      return response === undefined ? undefined : read<Contract>(contractFromJson, response);
    },
    match: async ({ ids, email, phone = null }) => {
      const traces = { ids, email, ...(phone === null ? {} : { phone: internationalPhone(phone, options.country) }) };
      return readList(await send('POST', 'customers/match', { ...traces, limit: maxMatches }), maxMatches);
    },
  };
}

/** Whether an id can be a segment of a path: `..` would name another endpoint. */
function isSegment(id: string): boolean {
  return id.isWellFormed() && !/^\.{0,2}$/.test(id);
}

/** Sends a request, and reads its response; undefined for a 404. */
async function request(
  outbound: Pick<OutboundGuard, 'request'>,
  { baseUrl, token, timeoutMs }: HttpErpOptions,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<unknown> {
  const { status, body: bytes } = await outbound
    .request({
      url: `${baseUrl.replace(/\/+$/, '')}/${path}`,
      method,
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      deadlineMs: timeoutMs,
      maxResponseBytes,
      longResponse: 'refuse',
      maxRedirects: 3,
    })
    .catch((error: unknown) => {
      throw error instanceof OutboundError ? new ErpRequestError(error.message) : error;
    });
  if (status === 404 && method === 'GET') return undefined;
  if (status !== 200) throw new ErpRequestError(`status ${status}`);
  return read((text) => JSON.parse(text), bytes.toString('utf8'));
}

function readList(response: unknown, limit: number): Customer[] {
  const customers = readMember(response, 'customers');
  if (!Array.isArray(customers)) throw new ErpRequestError('the response has no list of customers');
  return customers.slice(0, limit).map((one) => read(customerFromJson, one));
}

function readTotal(response: unknown, atLeast: number): number {
  const total = readMember(response, 'total');
  if (typeof total === 'number' && Number.isInteger(total) && total >= 0 && total <= 0x7fff_ffff)
    return Math.max(total, atLeast);
  throw new ErpRequestError('the response has no total');
}

function readMember(response: unknown, name: string): unknown {
  return typeof response === 'object' && response !== null && name in response
    ? (response as Record<string, unknown>)[name]
    : undefined;
}

/** Reads a part of a response. Errors name the part, but not its content. */
function read<Read>(reader: (value: never) => Read, value: unknown): Read {
  try {
    return reader(value as never);
  } catch (error) {
    const isOurs = error instanceof Error && error.name === 'DomainError';
    throw new ErpRequestError(
      isOurs ? `the response is not as documented: ${error.message}` : 'the response is not JSON',
    );
  }
}
