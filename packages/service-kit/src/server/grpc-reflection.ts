import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { Health } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import {
  ServerReflection,
  type ServerReflectionRequest,
} from '@ticketing/contracts/grpc/reflection/v1/reflection_pb.ts';
import {
  type ServerReflectionRequest as AlphaRequest,
  ServerReflection as AlphaServerReflection,
} from '@ticketing/contracts/grpc/reflection/v1alpha/reflection_pb.ts';
import { maxAnonymousBytes } from './limit-rpc-bodies.ts';

// The two versions of the protocol have the same messages under different names; these types fit both.
type RequestContent = ServerReflectionRequest['messageRequest'] | AlphaRequest['messageRequest'];
type ResponseContent =
  | { case: 'fileDescriptorResponse'; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: 'allExtensionNumbersResponse'; value: { baseTypeName: string; extensionNumber: number[] } }
  | { case: 'listServicesResponse'; value: { service: { name: string }[] } }
  | { case: 'errorResponse'; value: { errorCode: number; errorMessage: string } };

/**
 * Serves the standard reflection protocol of gRPC, v1 and v1alpha, so that tools such as grpcurl can list, describe and
 * call the services without their proto files.
 *
 * Lists the given services, health and itself. The response for a file has all files that it imports too, each before its own
 * imports.
 * Errors: NOT_FOUND and INVALID_ARGUMENT, as messages of the stream, which stays open.
 */
export function reflectionRoutes(services: readonly DescService[]): (router: ConnectRouter) => void {
  const respond = responder([...services, Health, ServerReflection, AlphaServerReflection]);
  async function* serverReflectionInfo<Request extends { host: string; messageRequest: RequestContent }>(
    requests: AsyncIterable<Request>,
  ) {
    for await (const request of first(requests)) {
      yield { validHost: request.host, originalRequest: request, messageResponse: respond(request.messageRequest) };
    }
  }
  return (router) => {
    router.service(ServerReflection, { serverReflectionInfo }, limits);
    router.service(AlphaServerReflection, { serverReflectionInfo }, limits);
  };
}

/** Anybody may call reflection, so that what a call can cost is small. */
const limits = { readMaxBytes: maxAnonymousBytes };
const maxRequests = 100;

/** Returns the first requests of a stream. Errors: RESOURCE_EXHAUSTED for one more. */
async function* first<Request>(requests: AsyncIterable<Request>): AsyncGenerator<Request> {
  let count = 0;
  for await (const request of requests) {
    if (++count > maxRequests) throw new ConnectError('the stream has too many requests', Code.ResourceExhausted);
    yield request;
  }
}

function responder(services: readonly DescService[]): (request: RequestContent) => ResponseContent {
  const { files, symbols, extensions } = indexFiles(services.map((service) => service.file));
  return (request) => {
    switch (request.case) {
      case 'listServices':
        return {
          case: 'listServicesResponse',
          value: { service: services.map(({ typeName }) => ({ name: typeName })) },
        };
      case 'fileByFilename':
        return fileResponse(files.get(request.value));
      case 'fileContainingSymbol':
        return fileResponse(symbols.get(request.value));
      case 'fileContainingExtension':
        return fileResponse(extensions.get(request.value.containingType)?.get(request.value.extensionNumber));
      case 'allExtensionNumbersOfType': {
        if (!symbols.has(request.value)) return errorResponse(Code.NotFound, 'there is no such message');
        const extensionNumber = [...(extensions.get(request.value)?.keys() ?? [])];
        return { case: 'allExtensionNumbersResponse', value: { baseTypeName: request.value, extensionNumber } };
      }
      default:
        return errorResponse(Code.InvalidArgument, 'the kind of request is unknown');
    }
  };
}

function fileResponse(file: DescFile | undefined): ResponseContent {
  if (file === undefined) return errorResponse(Code.NotFound, 'no file contains what the request names');
  const fileDescriptorProto = withImports([file]).map(serialised);
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

const serialisedFiles = new WeakMap<DescFile, Uint8Array>();

function serialised(file: DescFile): Uint8Array {
  const known = serialisedFiles.get(file);
  if (known) return known;
  const bytes = toBinary(FileDescriptorProtoSchema, file.proto);
  serialisedFiles.set(file, bytes);
  return bytes;
}

function errorResponse(errorCode: Code, errorMessage: string): ResponseContent {
  return { case: 'errorResponse', value: { errorCode, errorMessage } };
}

/** Returns the files and all that they import, each before its own imports. */
function withImports(roots: readonly DescFile[]): DescFile[] {
  const found = new Set<DescFile>();
  function visit(file: DescFile): void {
    if (found.has(file)) return;
    file.dependencies.forEach(visit);
    found.add(file);
  }
  roots.forEach(visit);
  return [...found].reverse();
}

function indexFiles(roots: readonly DescFile[]) {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();
  for (const file of withImports(roots)) {
    files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      symbols.set(type.typeName, file);
      const members = type.kind === 'message' ? type.members : type.kind === 'service' ? type.methods : [];
      for (const member of members) symbols.set(`${type.typeName}.${member.name}`, file);
      if (type.kind !== 'extension') continue;
      const ofExtended = extensions.get(type.extendee.typeName) ?? new Map<number, DescFile>();
      extensions.set(type.extendee.typeName, ofExtended.set(type.number, file));
    }
  }
  return { files, symbols, extensions };
}
