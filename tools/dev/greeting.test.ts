import { serviceNamed, variableName } from '@ticketing/system/services.ts';
import { serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { expect, it } from 'vitest';
import { mailLines, outboundLines } from './greeting.ts';

const keys = {
  dataDir: 'data',
  issuerKeyFile: 'issuer.json',
  issuerJwksFile: 'issuer-keys.json',
  internalJwksFile: 'keys.json',
  encryptionKey: 'key',
  signingKeyFile: (service: string) => `${service}.json`,
};
const ports = { http: 1, grpc: 2, internal: 3 };
const inputs = { keys, logLevel: 'info', ports, calledPorts: () => ports, mongodbUri: 'mongodb://store' };
const variable = variableName('tickets', 'OUTBOUND_ALLOW');

// guarantee: O11
it('says to which addresses of this machine a service may send requests', () => {
  const entry = { ...serviceNamed('tickets'), makesOutboundRequests: true };
  const variables = serviceVariables(entry, { ...inputs, bus: { kind: 'log', mongodbUri: 'mongodb://store' } });
  expect(variables).toMatchObject({ [variable]: '127.0.0.0/8,::1' });
  expect(outboundLines([entry], variables)).toEqual([
    'outbound   tickets may send requests to 127.0.0.0/8,::1, also without TLS',
  ]);
  expect(outboundLines([entry], { ...variables, [variable]: '' })).toEqual([]);
});

it('allows and says nothing for a service that makes no such requests', () => {
  const entry = { ...serviceNamed('tickets'), makesOutboundRequests: false };
  const variables = serviceVariables(entry, { ...inputs, bus: { kind: 'log', mongodbUri: 'mongodb://store' } });
  expect(variables).not.toHaveProperty(variable);
  expect(outboundLines([entry], { [variable]: '10.0.0.1' })).toEqual([]);
});

it('says where mails go', () => {
  const entry = serviceNamed('tickets');
  const variables = serviceVariables(entry, { ...inputs, bus: { kind: 'log', mongodbUri: 'mongodb://store' } });
  expect(mailLines([entry, serviceNamed('reporting')], variables)).toEqual([
    'mail       tickets puts mails into data/mail',
  ]);
  expect(mailLines([entry], { [variableName('tickets', 'SMTP_URL')]: 'smtp://mail.example' })).toEqual([
    'mail       tickets sends mails to smtp://mail.example',
  ]);
});
