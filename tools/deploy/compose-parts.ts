import { consumedTopics, type ServiceEntry, serviceNamed, services, variableName } from '@ticketing/system/services.ts';

/** The variables of the engine that name the ports of these services on the host. Other services have none. */
const publishedPorts: Readonly<Record<string, string>> = { gateway: 'HTTP_PORT', tickets: 'TICKETS_PORT' };

/** The parts of deploy/compose/compose.yaml and compatible.yaml that follow from the description of the system. */
export function composeParts() {
  const withSetUp = services.filter(({ hasStore }) => hasStore);
  const keys = services.map(({ name }) => `  ${name}-key: { file: "\${KEYS_DIR:-./keys}/${name}.jwk.json" }`);
  return {
    services: services.map(renderService).join('\n\n'),
    keys: keys.join('\n'),
    'set-ups': withSetUp.map(({ name }) => `  ${name}-set-up:\n    depends_on: !reset {}`).join('\n'),
  };
}

/** Renders the processes of a service: one for requests, one for all other roles, and one that sets up its store. */
function renderService(entry: ServiceEntry): string {
  const { name, roles, hasStore } = entry;
  const background = roles.filter((role) => role !== 'api');
  const image = `    image: \${IMAGE_PREFIX:-localhost/ticketing/}${name}:\${IMAGE_TAG:-dev}`;
  const secrets = `    secrets: [issuer-keys, ${entry.ports.grpc ? 'internal-keys, ' : ''}${name}-key]`;
  const rolesVariable = variableName(name, 'ROLES');
  const api = [
    `  ${name}:`,
    '    <<: *service',
    image,
    ...publishPort(publishedPorts[name], entry.ports.http),
    `    environment:${hasStore ? ` &${name}` : ''}`,
    ...toEnvironment(entry).map(([variable, value]) => `      ${variableName(name, variable)}: ${value}`),
    ...(background.length > 0 ? [`      ${rolesVariable}: api`] : []),
    secrets,
    ...(hasStore
      ? [`    depends_on: &${name}-ready`, `      ${name}-set-up: { condition: service_completed_successfully }`]
      : []),
  ];
  const others = [
    `  ${name}-background:`,
    '    <<: *service',
    image,
    ...(roles.includes('mail-receiver') ? publishPort('MAIL_RECEIVER_PORT', 2525) : []),
    '    environment:',
    `      <<: *${name}`,
    `      ${rolesVariable}: ${background.join(',')}`,
    secrets,
    `    depends_on: *${name}-ready`,
  ];
  const setUp = [`  ${name}-set-up:`, '    <<: *set-up', image, `    environment: *${name}`, secrets];
  const processes = [api, ...(background.length > 0 ? [others] : []), ...(hasStore ? [setUp] : [])];
  return processes.map((lines) => lines.join('\n')).join('\n\n');
}

/** The variables of a service without its prefix, with their values as YAML. */
function toEnvironment(entry: ServiceEntry): (readonly [string, string])[] {
  const { name, ports, roles, calls } = entry;
  const usesBus = entry.publishes.length + consumedTopics(entry).length > 0;
  const variables: Record<string, string> = {
    ISSUER: fromEngine('ISSUER', 'ticketing-development'),
    AUDIENCE: fromEngine('AUDIENCE', 'ticketing'),
    JWKS_FILE: '/run/secrets/issuer-keys',
    SIGNING_KEY_FILE: `/run/secrets/${name}-key`,
    ...(ports.grpc && { INTERNAL_JWKS_FILE: '/run/secrets/internal-keys' }),
    ...(entry.hasStore && { MONGODB_URI: fromEngine('MONGODB_URI', 'mongodb://mongo:27017/?replicaSet=rs0') }),
    ...(usesBus && {
      KAFKA_BROKERS: fromEngine('KAFKA_BROKERS', 'kafka:9092'),
      KAFKA_REPLICAS: `"${fromEngine('KAFKA_REPLICAS', '1')}"`,
    }),
    ...Object.fromEntries(calls.map((called) => toAddress(called, ports.grpc === undefined))),
    ...(entry.keepsSecrets && {
      ENCRYPTION_KEY: `\${ENCRYPTION_KEY:?run npm run compose:init}`,
      PREVIOUS_ENCRYPTION_KEY: fromEngine('PREVIOUS_ENCRYPTION_KEY'),
    }),
    ...(entry.makesOutboundRequests && {
      OUTBOUND_ALLOW: fromEngine('OUTBOUND_ALLOW'),
      OUTBOUND_REQUIRE_HTTPS: `"${fromEngine('OUTBOUND_REQUIRE_HTTPS', 'true')}"`,
    }),
    ...(roles.includes('mailer') && {
      SMTP_URL: fromEngine('SMTP_URL', 'smtp://smtp:1025'),
      SMTP_STARTTLS: fromEngine('SMTP_STARTTLS', 'optional'),
    }),
    ...(roles.includes('mail-receiver') && { MAIL_RECEIVER_HOST: '0.0.0.0', MAIL_RECEIVER_PORT: '"2525"' }),
    ...(name === 'gateway' && { PUBLIC_ORIGIN: fromEngine('PUBLIC_ORIGIN'), RATE_LIMITS: fromEngine('RATE_LIMITS') }),
    LOG_LEVEL: fromEngine('LOG_LEVEL', 'info'),
  };
  return Object.entries(variables);
}

/** A variable of the engine, which compose reads from .env, with its default. */
function fromEngine(name: string, byDefault = ''): string {
  return `\${${name}:-${byDefault}}`;
}

function toAddress(called: string, byRest: boolean): [string, string] {
  const { http, grpc } = serviceNamed(called).ports;
  const name = called.toUpperCase();
  return byRest ? [`${name}_URL`, `http://${called}:${http}`] : [`${name}_TARGET`, `${called}:${grpc}`];
}

function publishPort(variable: string | undefined, port: number): string[] {
  if (variable === undefined) return [];
  return [`    ports: ["\${BIND_ADDRESS:-127.0.0.1}:\${${variable}:-${port}}:${port}"]`];
}
