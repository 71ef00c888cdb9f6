import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiTags } from '@nestjs/swagger';

/** OpenAPI extension that carries a tag's description to the document's making; it is not published. */
export const TAG_EXTENSION = 'x-tag-description';

/** Groups the operations of a controller in the docs, under a name and with a text. */
export function Tag(name: string, description: string): ClassDecorator {
  return applyDecorators(ApiTags(name), ApiExtension(TAG_EXTENSION, description));
}
