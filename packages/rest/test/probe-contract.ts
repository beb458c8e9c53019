import {
  createFileRegistry,
  createRegistry,
  type DescMessage,
  type DescService,
  type FileRegistry,
  fromJson,
  type JsonObject,
} from '@bufbuild/protobuf';
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt';
import { file_ticketing_api_v1_options } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';

const imports = {
  'google/protobuf/descriptor.proto': file_google_protobuf_descriptor,
  'google/protobuf/duration.proto': file_google_protobuf_duration,
  'google/protobuf/field_mask.proto': file_google_protobuf_field_mask,
  'google/protobuf/struct.proto': file_google_protobuf_struct,
  'google/protobuf/timestamp.proto': file_google_protobuf_timestamp,
  'ticketing/api/v1/options.proto': file_ticketing_api_v1_options,
};

/**
 * Makes a message type for a test of something that no contract uses yet. The fields are `FieldDescriptorProto` objects
 * in JSON, numbered in their order.
 */
export function probeMessage(fields: JsonObject[], oneofs: string[] = []): DescMessage {
  return probeFile(fields, oneofs, []).getMessage('probe.Probe') as DescMessage;
}

/**
 * Makes a service with one method, for the route of a test. Request and response are messages with these fields.
 */
export function probeService(rest: JsonObject, fields: JsonObject[]): DescService {
  const method = {
    name: 'Probe',
    inputType: '.probe.Probe',
    outputType: '.probe.Probe',
    options: { '[ticketing.api.v1.rest]': rest },
  };
  return probeFile(fields, [], [{ name: 'ProbeService', method: [method] }]).getService(
    'probe.ProbeService',
  ) as DescService;
}

function probeFile(fields: JsonObject[], oneofs: string[], service: JsonObject[]): FileRegistry {
  const file = fromJson(
    FileDescriptorProtoSchema,
    {
      name: 'probe.proto',
      package: 'probe',
      syntax: 'proto3',
      dependency: Object.keys(imports),
      messageType: [
        {
          name: 'Probe',
          field: fields.map((field, index) => ({
            label: 'LABEL_OPTIONAL',
            number: index + 1,
            jsonName: String(field.name).replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
            ...field,
          })),
          oneofDecl: oneofs.map((name) => ({ name })),
        },
      ],
      service,
    },
    { registry: createRegistry(file_ticketing_api_v1_options) },
  );
  return createFileRegistry(file, (name) => imports[name as keyof typeof imports]);
}
