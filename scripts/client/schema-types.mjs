// The types of the typed client, by openapi-typescript; every integer of 64 bits is the type parameter `Int64`.
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const KEPT = new Set(['components', 'operations']);

/** The text of the types of a reduced document. */
export async function schemaTypes(document) {
  const nodes = await openapiTS(structuredClone(document), {
    defaultNonNullable: false,
    transform: (schema) =>
      schema.format === 'int64' && schema.type !== 'string' ? int64Type(schema) : undefined,
  });
  return astToString(nodes.filter(({ name }) => KEPT.has(name?.text)).map(parameterized));
}

function int64Type({ nullable }) {
  const type = ts.factory.createTypeReferenceNode('Int64');
  return nullable
    ? ts.factory.createUnionTypeNode([type, ts.factory.createLiteralTypeNode(ts.factory.createNull())])
    : type;
}

/** Gives an interface the parameter, and passes it on wherever the interface names itself or the other. */
function parameterized(node) {
  const { transformed } = ts.transform(node, [
    (context) => {
      const visit = (inner) => {
        const passed =
          ts.isTypeReferenceNode(inner) && KEPT.has(inner.typeName.text)
            ? ts.factory.updateTypeReferenceNode(
                inner,
                inner.typeName,
                ts.factory.createNodeArray([ts.factory.createTypeReferenceNode('Int64')]),
              )
            : inner;
        return ts.visitEachChild(passed, visit, context);
      };
      return visit;
    },
  ]);
  const [whole] = transformed;
  return ts.factory.updateInterfaceDeclaration(
    whole,
    whole.modifiers,
    whole.name,
    [ts.factory.createTypeParameterDeclaration(undefined, 'Int64')],
    whole.heritageClauses,
    whole.members,
  );
}
