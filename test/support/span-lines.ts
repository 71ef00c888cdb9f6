import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, type ServiceProcess } from './service-process.js';

/** A span as a process has written it. */
export interface SpanLine {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly tracestate: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** Kinds of spans, as OpenTelemetry numbers them. */
export const SERVER = 1;

/** Writes each span as a line of JSON; `more` stands behind the registration of the SDK. */
const register = (more: string) => `
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
const show = (span) => ({
  name: span.name, kind: span.kind, traceId: span.spanContext().traceId, spanId: span.spanContext().spanId,
  parent: span.parentSpanContext?.spanId, tracestate: span.spanContext().traceState?.serialize(),
  attributes: span.attributes, isError: span.status.code === 2,
});
const exporter = {
  export: (spans, done) => {
    for (const span of spans) process.stdout.write(JSON.stringify({ span: show(span) }) + '\\n');
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
${more}`;

/** The environment of a process that is started with a register file of this text, in a folder with what is installed here. */
export async function importing(folder: string, text: string): Promise<NodeJS.ProcessEnv> {
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'tracing.mjs');
  await writeFile(file, text);
  return { NODE_OPTIONS: `--import ${pathToFileURL(file).href}` };
}

/** The environment of a process that writes its spans as lines. */
export function writingSpans(folder: string, more = ''): Promise<NodeJS.ProcessEnv> {
  return importing(folder, register(more));
}

/** The spans that a process has written so far. */
export function spansOf({ output }: ServiceProcess): SpanLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"span":'))
    .map((line) => (JSON.parse(line) as { span: SpanLine }).span);
}
