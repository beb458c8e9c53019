import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { apiDescription } from './api-description.ts';
import { readGatewayConfig } from './config.ts';
import { openPublicServer } from './public-server.ts';
import { sessionDocument } from './session-openapi.ts';
import { upstreamAgent } from './upstream-agent.ts';

/**
 * The gateway: the single entry point for REST clients. It verifies credentials, enforces limits and forwards requests to
 * the services. It is ready while it has the keys of the issuer; while a service is unavailable, only the routes of that
 * service fail.
 */
export const service = composeService({
  name: 'gateway',
  readConfig: readGatewayConfig,
  async compose(kit) {
    const { config, log, metrics, tracer, health, tls, limits, tokens, runtime, closing } = kit;
    const agent = upstreamAgent(config.deadlineMs, tls);
    kit.onClose(() => agent.close());
    const description = apiDescription({ ...config, own: sessionDocument(), agent, log, now: runtime.monotonicMs });
    void description.refresh();
    const { verify } = kit.issuer;
    const parts = {
      config,
      log,
      metrics,
      tracer,
      health,
      tls,
      limits,
      agent,
      description,
      tokens,
      verify,
      runtime,
      closing,
    };
    return { web: await openPublicServer(parts) };
  },
});
