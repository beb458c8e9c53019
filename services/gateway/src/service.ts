import { composeBareService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { readGatewayConfig } from './config.ts';
import { apiDescription } from './page/api-description.ts';
import { sessionDocument } from './page/session-openapi.ts';
import { upstreamAgent } from './proxy/upstream-agent.ts';
import { openPublicServer } from './public-server.ts';

/**
 * The gateway: the single entry point for REST clients. It verifies credentials, enforces limits and forwards requests to
 * the services. It is ready while it has the keys of the issuer; while a service is unavailable, only the routes of that
 * service fail.
 */
export const service = composeBareService({
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
