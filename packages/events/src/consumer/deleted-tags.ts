import { fromBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { tagChangedTopic } from '@ticketing/contracts/topics.ts';
import type { ReceivedEvent } from '../bus/envelope.ts';

/** Returns the ids of the tags that some events report as deleted. Other events are passed over. */
export function deletedTagIds(events: readonly ReceivedEvent[]): number[] {
  return events
    .filter(({ topic }) => topic === tagChangedTopic.name)
    .map(({ value }) => fromBinary(TagChangedSchema, value))
    .filter(({ deleted }) => deleted)
    .map(({ tagId }) => tagId);
}
