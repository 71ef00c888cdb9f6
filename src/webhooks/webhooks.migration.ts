import { type MigrationInterface, type QueryRunner, Table, type TableColumnOptions } from 'typeorm';

/** Adds the tables of webhooks: endpoints, their subscriptions, messages, and deliveries. */
export class Webhooks1793491223000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    const idType = runner.connection.options.type === 'sqlite' ? 'integer' : 'bigint';
    await runner.createTable(
      new Table({
        name: 'webhook_endpoints',
        columns: [
          { name: 'id', type: 'varchar', length: '36', isPrimary: true },
          text('client_id', 36),
          text('url', 2048),
          { ...text('label', 255), isNullable: true },
          text('secret', 100),
          { name: 'previous_secrets', type: 'text' },
          text('created_at', 24),
          { ...text('disabled_at', 24), isNullable: true },
          { ...text('disabled_because', 20), isNullable: true },
          { name: 'failures', type: 'integer' },
          { ...text('failing_since', 24), isNullable: true },
          { name: 'due_at', type: 'bigint' },
          { name: 'delay', type: 'integer' },
        ],
        indices: [
          { name: 'webhook_endpoints_client', columnNames: ['client_id', 'created_at', 'id'] },
          { name: 'webhook_endpoints_created', columnNames: ['created_at', 'id'] },
        ],
        foreignKeys: [reference('webhook_endpoints_of_client', 'client_id', 'clients')],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'webhook_subscriptions',
        columns: [
          { ...text('endpoint_id', 36), isPrimary: true },
          { ...text('event', 100), isPrimary: true },
        ],
        indices: [{ name: 'webhook_subscriptions_event', columnNames: ['event'] }],
        foreignKeys: [reference('webhook_subscriptions_of_endpoint', 'endpoint_id', 'webhook_endpoints')],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'webhook_messages',
        columns: [
          { ...text('id', 36), isPrimary: true },
          text('event', 100),
          { name: 'payload', type: 'text' },
          text('created_at', 24),
        ],
        indices: [{ name: 'webhook_messages_created', columnNames: ['created_at'] }],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'webhook_deliveries',
        columns: [
          { name: 'id', type: idType, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
          text('endpoint_id', 36),
          text('message_id', 36),
          text('state', 10),
          { name: 'attempts', type: 'integer' },
          { ...text('attempted_at', 24), isNullable: true },
          { name: 'status', type: 'integer', isNullable: true },
          { ...text('error', 500), isNullable: true },
        ],
        indices: [
          {
            name: 'webhook_deliveries_waiting',
            columnNames: ['state', 'endpoint_id', 'id'],
            where: `state = 'waiting'`,
          },
          { name: 'webhook_deliveries_endpoint', columnNames: ['endpoint_id', 'id'] },
          { name: 'webhook_deliveries_message', columnNames: ['message_id'] },
        ],
        foreignKeys: [
          reference('webhook_deliveries_of_endpoint', 'endpoint_id', 'webhook_endpoints'),
          reference('webhook_deliveries_of_message', 'message_id', 'webhook_messages'),
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['deliveries', 'messages', 'subscriptions', 'endpoints'])
      await runner.dropTable(`webhook_${table}`);
  }
}

function text(name: string, length: number): TableColumnOptions {
  return { name, type: 'varchar', length: String(length) };
}

function reference(name: string, column: string, table: string) {
  return {
    name,
    columnNames: [column],
    referencedTableName: table,
    referencedColumnNames: ['id'],
    onDelete: 'CASCADE',
  };
}
