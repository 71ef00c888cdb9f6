/** A complete representation, which class-transformer must not change: ClassSerializerInterceptor would treat it as an object. */
export abstract class Untransformed {}
