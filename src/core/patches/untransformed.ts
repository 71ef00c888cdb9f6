/** A whole representation, which class-transformer leaves as it is: to ClassSerializerInterceptor it would be an object. */
export abstract class Untransformed {}
