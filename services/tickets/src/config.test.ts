import { expect, test } from 'vitest';
import { readTicketsConfig } from './config.ts';

const environment = {
  TICKETING_TICKETS_ISSUER: 'issuer',
  TICKETING_TICKETS_JWKS_FILE: 'issuer.jwks.json',
  TICKETING_TICKETS_SIGNING_KEY_FILE: 'tickets.jwk.json',
  TICKETING_TICKETS_INTERNAL_JWKS_FILE: 'internal.jwks.json',
  TICKETING_TICKETS_MONGODB_URI: 'mongodb://a:27017,b:27017,c:27017/?replicaSet=rs0',
  TICKETING_TICKETS_KAFKA_BROKERS: 'k1:9092,k2:9092',
};

test('takes a replica set, and has a default for the rest', () => {
  const config = readTicketsConfig(environment);
  expect(config.store).toEqual({
    mongodbUri: environment.TICKETING_TICKETS_MONGODB_URI,
    database: 'ticketing_tickets',
  });
  expect([config.httpPort, config.grpcPort, config.internalPort]).toEqual([8081, 9081, 10081]);
});

test('names every problem at once', () => {
  const broken = {
    ...environment,
    TICKETING_TICKETS_MONGODB_URI: 'http://a',
    TICKETING_TICKETS_COLOUR: 'red',
    TICKETING_TICKETS_ISSUER: '',
  };
  expect(() => readTicketsConfig(broken)).toThrow(
    /ISSUER is required.*MONGODB_URI must be a MongoDB URI.*TICKETING_TICKETS_COLOUR is not/s,
  );
});
