import type { AddressInfo } from 'node:net';
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  getOption,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { Client, credentials, status } from '@grpc/grpc-js';
import * as v1 from '@ticketing/contracts/grpc/reflection/v1/reflection_pb.ts';
import * as v1alpha from '@ticketing/contracts/grpc/reflection/v1alpha/reflection_pb.ts';
import { rest } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reflectionRoutes } from './grpc-reflection.ts';

type RequestContent = NonNullable<MessageInitShape<typeof v1.ServerReflectionRequestSchema>['messageRequest']>;

const server = fastify({ http2: true });
let client: Client;

beforeAll(async () => {
  const routes = reflectionRoutes([TagService]);
  await server.register(fastifyConnectPlugin, { routes, connect: false, grpcWeb: false, shutdownTimeoutMs: 20 });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
});

afterAll(async () => {
  client.close();
  await server.close();
});

/** Sends requests over one stream with the client of grpc-js, and returns all responses. */
function sendAll<I extends DescMessage, O extends DescMessage>(
  path: string,
  input: I,
  output: O,
  requests: MessageInitShape<I>[],
) {
  const stream = client.makeBidiStreamRequest<MessageInitShape<I>, MessageShape<O>>(
    path,
    (message) => Buffer.from(toBinary(input, create(input, message))),
    (bytes) => fromBinary(output, bytes),
  );
  for (const request of requests) stream.write(request);
  stream.end();
  return stream.toArray() as Promise<MessageShape<O>[]>;
}

async function send(...contents: RequestContent[]): Promise<v1.ServerReflectionResponse['messageResponse'][]> {
  const requests = contents.map((messageRequest) => ({ messageRequest }));
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  const responses = await sendAll(path, v1.ServerReflectionRequestSchema, v1.ServerReflectionResponseSchema, requests);
  return responses.map(({ messageResponse }) => messageResponse);
}

async function readFiles(content: RequestContent) {
  const [response] = await send(content);
  if (response?.case !== 'fileDescriptorResponse') throw new Error(`the response is ${response?.case}`);
  return response.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

test('lists the services, health, and the reflection services', async () => {
  expect(await send({ case: 'listServices', value: '' })).toMatchObject([
    {
      case: 'listServicesResponse',
      value: {
        service: [
          { name: 'ticketing.tickets.v1.TagService' },
          { name: 'grpc.health.v1.Health' },
          { name: 'grpc.reflection.v1.ServerReflection' },
          { name: 'grpc.reflection.v1alpha.ServerReflection' },
        ],
      },
    },
  ]);
});

test('returns a file with all that it imports, so that a client can rebuild the service with its options', async () => {
  const file = await readFiles({ case: 'fileContainingSymbol', value: TagService.typeName });
  expect(file[0]?.name).toBe('ticketing/tickets/v1/tag_service.proto');
  // A registry needs each file after its imports: the reverse of the order in the response.
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: file.toReversed() }));
  const method = registry.getService(TagService.typeName)?.method.getTag;
  expect(method && getOption(method, rest).path).toBe('/tag/{id}');
});

test('describes health, so that a tool can call it', async () => {
  const [file] = await readFiles({ case: 'fileContainingSymbol', value: 'grpc.health.v1.Health.Check' });
  expect(file?.service[0]?.method.map(({ name }) => name)).toEqual(['Check', 'Watch']);
});

test.each([
  ['a method', 'ticketing.tickets.v1.TagService.GetTag', 'ticketing/tickets/v1/tag_service.proto'],
  ['a message', 'ticketing.tickets.v1.Tag', 'ticketing/tickets/v1/tag.proto'],
  ['a field', 'ticketing.tickets.v1.Tag.full_name', 'ticketing/tickets/v1/tag.proto'],
  ['an enum', 'ticketing.tickets.v1.TagType', 'ticketing/tickets/v1/tag.proto'],
  ['an extension', 'ticketing.api.v1.rest', 'ticketing/api/v1/options.proto'],
  ['a nested type', 'google.protobuf.FieldOptions.CType', 'google/protobuf/descriptor.proto'],
])('finds the file that declares %s', async (_, symbol, name) => {
  const [first] = await readFiles({ case: 'fileContainingSymbol', value: symbol });
  expect(first?.name).toBe(name);
});

test('finds a file by its name', async () => {
  const [first] = await readFiles({ case: 'fileByFilename', value: 'ticketing/tickets/v1/tag.proto' });
  expect(first?.messageType.map(({ name }) => name)).toEqual(['Tag', 'TagDetection']);
});

describe('for the extensions of a message', () => {
  const containingType = 'google.protobuf.MethodOptions';

  test('returns their numbers', async () => {
    const [response] = await send({ case: 'allExtensionNumbersOfType', value: containingType });
    expect(response).toMatchObject({
      case: 'allExtensionNumbersResponse',
      value: { baseTypeName: containingType, extensionNumber: expect.arrayContaining([rest.number]) },
    });
  });

  test('returns an empty list if there are none', async () => {
    const [response] = await send({ case: 'allExtensionNumbersOfType', value: 'ticketing.tickets.v1.Tag' });
    expect(response).toMatchObject({ case: 'allExtensionNumbersResponse', value: { extensionNumber: [] } });
  });

  test('finds the file that declares one', async () => {
    const value = { containingType, extensionNumber: rest.number };
    const [first] = await readFiles({ case: 'fileContainingExtension', value });
    expect(first?.name).toBe('ticketing/api/v1/options.proto');
  });
});

test('returns an error for what it cannot find, and the stream stays open', async () => {
  const responses = await send(
    { case: 'fileByFilename', value: 'nothing.proto' },
    { case: 'fileContainingSymbol', value: 'ticketing.Nothing' },
    { case: 'fileContainingExtension', value: { containingType: 'google.protobuf.MethodOptions', extensionNumber: 1 } },
    { case: 'allExtensionNumbersOfType', value: 'ticketing.Nothing' },
    { case: undefined },
    { case: 'listServices', value: '' },
  );
  const codes = responses.map((response) =>
    response.case === 'errorResponse' ? response.value.errorCode : response.case,
  );
  const { NOT_FOUND, INVALID_ARGUMENT } = status;
  expect(codes).toEqual([NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND, INVALID_ARGUMENT, 'listServicesResponse']);
});

test('supports v1alpha too, and includes the request in its response', async () => {
  const path = '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo';
  const request = create(v1alpha.ServerReflectionRequestSchema, {
    host: 'tickets',
    messageRequest: { case: 'fileContainingSymbol', value: TagService.typeName },
  });
  const [response] = await sendAll(
    path,
    v1alpha.ServerReflectionRequestSchema,
    v1alpha.ServerReflectionResponseSchema,
    [request],
  );
  expect(response).toMatchObject({ validHost: 'tickets', messageResponse: { case: 'fileDescriptorResponse' } });
  expect(response?.originalRequest).toEqual(request);
});
