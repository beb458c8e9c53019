import { decodeBinaryHeader, encodeBinaryHeader } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';

/** Converts the headers of a Connect request to the metadata of a gRPC call; names that end in `-bin` hold bytes. */
export function toMetadata(header: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of header) {
    if (name.endsWith('-bin')) {
      for (const part of value.split(',')) metadata.add(name, Buffer.from(decodeBinaryHeader(part.trim())));
    } else {
      metadata.add(name, value);
    }
  }
  return metadata;
}

/** Adds the metadata of a gRPC call to headers. */
export function appendMetadata(header: Headers, metadata: Metadata): void {
  for (const [name, values] of Object.entries(metadata.toJSON())) {
    for (const value of values) header.append(name, typeof value === 'string' ? value : encodeBinaryHeader(value));
  }
}
