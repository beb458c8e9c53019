/** The variables that give a service a bus of the test's own: on Kafka, if there are brokers, else in the store. */
export function busVariables(
  service: string,
  name: string,
  mongodbUri: string,
  kafkaBrokers: readonly string[],
): Record<string, string> {
  const prefix = `TICKETING_${service.toUpperCase()}_`;
  if (kafkaBrokers.length === 0) {
    return {
      [`${prefix}EVENT_LOG_MONGODB_URI`]: mongodbUri,
      [`${prefix}EVENT_LOG_MONGODB_DATABASE`]: `${name}_events`,
    };
  }
  return {
    [`${prefix}KAFKA_BROKERS`]: kafkaBrokers.join(),
    [`${prefix}KAFKA_REPLICAS`]: '1',
    [`${prefix}KAFKA_PREFIX`]: `${name}.`,
  };
}
