import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { apiDescription } from './api-description.ts';
import { readGatewayConfig } from './config.ts';
import { sessionDocument } from './session-operations.ts';
import { upstreamAgent } from './upstream-agent.ts';
import { openWeb } from './web.ts';

/**
 * The gateway: the one entrance for REST clients, which verifies, limits and forwards. It is ready while it has the keys of
 * the issuer; a service that is unavailable closes only that service's routes.
 */
export const service = composeService({
  name: 'gateway',
  readConfig: readGatewayConfig,
  async compose(kit) {
    const { config, log, metrics, health, tokens } = kit;
    const { now } = kit.runtime;
    const agent = upstreamAgent(config.deadlineMs);
    kit.onClose(() => agent.close());
    const description = apiDescription({ ...config, own: sessionDocument(), agent, log, now });
    void description.refresh();
    const { verify } = kit.issuer;
    return { web: await openWeb({ config, log, metrics, health, agent, description, tokens, verify, now }) };
  },
});
