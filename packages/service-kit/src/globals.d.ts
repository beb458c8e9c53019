// Connect's declarations name this DOM type; Node has the same shape without the DOM library.
type HeadersInit = NonNullable<ConstructorParameters<typeof Headers>[0]>;
