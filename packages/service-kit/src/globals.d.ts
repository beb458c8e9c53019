// Connect's declarations use this type of the DOM library, which is not loaded; the type of Node has the same shape.
type HeadersInit = NonNullable<ConstructorParameters<typeof Headers>[0]>;
