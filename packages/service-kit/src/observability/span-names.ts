import type { DescMethod } from '@bufbuild/protobuf';

/** Returns the name of the span of an RPC, as the conventions of OpenTelemetry have it. */
export function rpcName({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}

/** Returns the attributes of the span of an RPC. */
export function rpcAttributes({ parent, name }: DescMethod): Record<string, string> {
  return { 'rpc.system': 'grpc', 'rpc.service': parent.typeName, 'rpc.method': name };
}
