import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger, type Logger } from '@ticketing/runtime/logger.ts';
import { openIssuer } from '@ticketing/service-kit/identity/identity.ts';
import { internalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import { watchHealth } from '@ticketing/service-kit/lifecycle/health.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/run-service.ts';
import { createMetrics } from '@ticketing/service-kit/observability/metrics.ts';
import { listenOn } from '@ticketing/service-kit/server/http-server.ts';
import { internalServer } from '@ticketing/service-kit/server/probes.ts';
import { apiDescription } from './api-description.ts';
import { readGatewayConfig } from './config.ts';
import { sessionDocument } from './session-operations.ts';
import { upstreamAgent } from './upstream-agent.ts';
import { openWeb } from './web.ts';

/** A gateway that is running. */
export interface RunningGateway extends RunningService {
  port: number;
  internalPort: number;
  log: Logger;
}

/**
 * Starts the gateway: the one door for REST clients, which verifies, limits and passes on. It is ready while it has
 * the keys of the issuer; a service that is away closes only that service's routes.
 *
 * Errors: a ConfigError; a key file that is not usable; a port that is taken.
 */
export async function startGateway(environment?: Environment, now: () => number = Date.now): Promise<RunningGateway> {
  const config = readGatewayConfig(environment);
  const log = createLogger('gateway', config.logLevel);
  const metrics = createMetrics('gateway');
  const tokens = await internalTokens('gateway', config.signingKeyFile);
  const issuer = openIssuer(config.issuer, log);
  const health = watchHealth({ issuer: issuer.keys.check });
  const agent = upstreamAgent(config.deadlineMs);
  const release = async () => {
    health.close();
    issuer.keys.close();
    await agent.close();
  };
  try {
    const description = apiDescription({ ...config, own: sessionDocument(), agent, log, now });
    const web = await openWeb({ config, log, metrics, health, agent, description, tokens, verify: issuer.verify, now });
    const servers = { http: web, internal: internalServer(health, metrics, log) };
    const server = await listenOn(config.host, servers, { http: config.httpPort, internal: config.internalPort });
    void description.refresh();
    log.info({ ports: server.ports }, 'started');
    const stop = async () => {
      health.startStopping();
      await server.close(config.drainMs);
      await release();
    };
    return { port: server.ports.http, internalPort: server.ports.internal, log, stop };
  } catch (error) {
    await release();
    throw error;
  }
}
