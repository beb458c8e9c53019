import { WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { WebhookParts } from './open.ts';

/** The fields of an endpoint that a request sets. */
interface WebhookInput {
  url?: string | undefined;
  subchannelIds?: readonly number[] | undefined;
  status?: WebhookStatus | undefined;
}

/**
 * Refuses invalid fields that the rules of the contract cannot check.
 *
 * Errors: address_refused, invalid_url, unknown_subchannel, not_allowed.
 */
export async function requireValidWebhook(
  { outbound, settings }: Pick<WebhookParts, 'outbound' | 'settings'>,
  { url, subchannelIds = [], status }: WebhookInput,
): Promise<void> {
  const violations: Violation[] = [];
  const problem = url === undefined ? undefined : outbound.checkUrl(url);
  if (problem) {
    const code = problem.code === 'address_refused' ? problem.code : 'invalid_url';
    violations.push({ pointer: '#/url', code, detail: problem.detail });
  }
  const known = new Set(subchannelIds.length > 0 ? (await settings.read()).subchannels.map(({ id }) => id) : []);
  for (const [index, id] of subchannelIds.entries()) {
    if (known.has(id)) continue;
    violations.push({ pointer: `#/subchannelIds/${index}`, code: 'unknown_subchannel', detail: 'does not exist' });
  }
  if (status === WebhookStatus.DISABLED) {
    violations.push({ pointer: '#/status', code: 'not_allowed', detail: 'must be active or paused' });
  }
  if (violations.length > 0) throw invalidInput(violations);
}
